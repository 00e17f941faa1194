//! Numbers as NumPy lays them out, read and written a tile at a time.

/// Elements in a tile.
pub(super) const TILE: usize = 256;

/// The number types of NumPy that have differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// A number type and its byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) kind: Kind,
    big: bool,
}

impl Kind {
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }

    /// The float type that NumPy adds this and another type in; `None` if it adds them as integers.
    pub(super) fn float_with(self, other: Self) -> Option<Self> {
        let (a, b) = (self, other);
        if !a.is_float() && !b.is_float() {
            let clash = (a == Self::U64 && !b.is_unsigned()) || (b == Self::U64 && !a.is_unsigned());
            return clash.then_some(Self::F64);
        }
        // The float that holds every value of an integer type of one or two bytes; for longer ones, float64.
        let float = |kind: Self| match (kind, kind.size()) {
            (Self::F16, _) | (_, 1) => 2,
            (Self::F32, _) | (_, 2) => 4,
            _ => 8,
        };
        Some(match float(a).max(float(b)) {
            2 => Self::F16,
            4 => Self::F32,
            _ => Self::F64,
        })
    }

    /// Cut off the fraction; what does not fit becomes what x86 makes of it, as NumPy does there.
    #[allow(clippy::cast_possible_truncation)]
    fn cut(self, x: f64) -> i64 {
        let (short, long) = (2_147_483_648.0, 9_223_372_036_854_775_808.0);
        let cut32 = |x: f64| if x > -short - 1.0 && x < short { x as i64 } else { i64::from(i32::MIN) };
        let cut64 = |x: f64| if x >= -long && x < long { x as i64 } else { i64::MIN };
        match self {
            Self::I64 => cut64(x),
            Self::U64 if x >= long => cut64(x - long) ^ i64::MIN,
            Self::U64 => cut64(x),
            // NumPy takes now this, now that for what does not fit into 32 bits; wrapping brings back what wrapped before.
            Self::U32 => cut64(x),
            _ => cut32(x),
        }
    }

    /// Round to the nearest value of a float type.
    pub(super) fn round(self, x: f64) -> f64 {
        match self {
            Self::F16 => from_half(to_half(x)),
            Self::F32 => f64::from(narrow(x)),
            _ => x,
        }
    }
}

impl Type {
    /// Read NumPy's (`<i4`, `|u1`, `f8`) or Zarr's (`int32`) name of a number type.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (order, code) = match name.split_at_checked(1) {
            Some((order @ ("<" | ">" | "=" | "|"), code)) => (order, code),
            _ => ("=", name),
        };
        let big = if order == "=" { cfg!(target_endian = "big") } else { order == ">" };
        let kind = match code {
            "i1" | "int8" => Kind::I8,
            "i2" | "int16" => Kind::I16,
            "i4" | "int32" => Kind::I32,
            "i8" | "int64" => Kind::I64,
            "u1" | "uint8" => Kind::U8,
            "u2" | "uint16" => Kind::U16,
            "u4" | "uint32" => Kind::U32,
            "u8" | "uint64" => Kind::U64,
            "f2" | "float16" => Kind::F16,
            "f4" | "float32" => Kind::F32,
            "f8" | "float64" => Kind::F64,
            _ => return None,
        };
        Some(Self { kind, big })
    }

    /// Read integers; those of eight bytes without a sign keep their bits.
    pub(super) fn load_integers(self, src: &[u8], out: &mut [i64]) {
        match self.kind {
            Kind::I8 => load(src, out, |[b]: [u8; 1]| i64::from(i8::from_ne_bytes([b])), false),
            Kind::U8 => load(src, out, |[b]: [u8; 1]| i64::from(b), false),
            Kind::I16 => load(src, out, |b| i64::from(i16::from_le_bytes(b)), self.big),
            Kind::U16 => load(src, out, |b| i64::from(u16::from_le_bytes(b)), self.big),
            Kind::I32 => load(src, out, |b| i64::from(i32::from_le_bytes(b)), self.big),
            Kind::U32 => load(src, out, |b| i64::from(u32::from_le_bytes(b)), self.big),
            _ => load(src, out, i64::from_le_bytes, self.big),
        }
    }

    /// Read numbers of any type as floats.
    pub(super) fn load_floats(self, src: &[u8], out: &mut [f64]) {
        match self.kind {
            Kind::F16 => load(src, out, |b| from_half(u16::from_le_bytes(b)), self.big),
            Kind::F32 => load(src, out, |b| f64::from(f32::from_le_bytes(b)), self.big),
            Kind::F64 => load(src, out, f64::from_le_bytes, self.big),
            _ => {
                let mut whole = [0; TILE];
                for (src, out) in src.chunks(TILE.saturating_mul(self.kind.size())).zip(out.chunks_mut(TILE)) {
                    self.load_integers(src, &mut whole);
                    for (out, &x) in out.iter_mut().zip(&whole) {
                        *out = self.integer_to_float(x);
                    }
                }
            }
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // What NumPy's casts do.
    fn integer_to_float(self, x: i64) -> f64 {
        if self.kind == Kind::U64 { x as u64 as f64 } else { x as f64 }
    }

    /// Cut integers to the type's width; floats are those of the type `from`.
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // What NumPy's casts do.
    pub(super) fn store_integers(self, values: &[i64], from: Self, dst: &mut [u8]) {
        let unsigned = from.kind == Kind::U64;
        let single = |x: i64| if unsigned { x as u64 as f32 } else { x as f32 };
        match self.kind {
            Kind::F16 => store(values, dst, |x| to_half(f64::from(single(x))).to_le_bytes(), self.big),
            Kind::F32 => store(values, dst, |x| single(x).to_le_bytes(), self.big),
            Kind::F64 => store(values, dst, |x| from.integer_to_float(x).to_le_bytes(), self.big),
            _ => match self.kind.size() {
                1 => store(values, dst, first::<1>, self.big),
                2 => store(values, dst, first::<2>, self.big),
                4 => store(values, dst, first::<4>, self.big),
                _ => store(values, dst, first::<8>, self.big),
            },
        }
    }

    /// Round floats to the type, or cut their fractions off.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
    pub(super) fn store_floats(self, values: &[f64], dst: &mut [u8]) {
        let cut = |x: f64| self.kind.cut(x);
        match self.kind {
            Kind::F16 => store(values, dst, |x| to_half(x).to_le_bytes(), self.big),
            Kind::F32 => store(values, dst, |x| narrow(x).to_le_bytes(), self.big),
            Kind::F64 => store(values, dst, f64::to_le_bytes, self.big),
            _ => match self.kind.size() {
                1 => store(values, dst, |x| first::<1>(cut(x)), self.big),
                2 => store(values, dst, |x| first::<2>(cut(x)), self.big),
                4 => store(values, dst, |x| first::<4>(cut(x)), self.big),
                _ => store(values, dst, |x| first::<8>(cut(x)), self.big),
            },
        }
    }
}

fn load<const N: usize, T>(src: &[u8], out: &mut [T], read: impl Fn([u8; N]) -> T, big: bool) {
    for (out, bytes) in out.iter_mut().zip(src.chunks_exact(N)) {
        if let Some(&(mut bytes)) = bytes.first_chunk() {
            if big {
                bytes.reverse();
            }
            *out = read(bytes);
        }
    }
}

fn store<const N: usize, T: Copy>(values: &[T], dst: &mut [u8], write: impl Fn(T) -> [u8; N], big: bool) {
    for (&value, out) in values.iter().zip(dst.chunks_exact_mut(N)) {
        let mut bytes = write(value);
        if big {
            bytes.reverse();
        }
        out.copy_from_slice(&bytes);
    }
}

/// The `N` low bytes.
fn first<const N: usize>(x: i64) -> [u8; N] {
    x.to_le_bytes().first_chunk().copied().unwrap_or([0; N])
}

#[allow(clippy::cast_possible_truncation)] // Rounding to the nearest is what is wanted.
fn narrow(x: f64) -> f32 {
    x as f32
}

/// The value of a half-precision number.
fn from_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent.saturating_sub(25)),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The nearest half-precision number, ties to even.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The value is a small whole number by then.
fn to_half(x: f64) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let size = x.abs();
    if size.is_nan() {
        return sign | 0x7E00;
    }
    // Halfway between the largest finite number and the next power of two.
    if size >= 65520.0 {
        return sign | 0x7C00;
    }
    // The exponent of the last of the eleven binary digits; below 2⁻¹⁴ it stays, which makes subnormal numbers.
    let exponent = (size.to_bits() >> 52) as i32;
    let unit = exponent.saturating_sub(1023).max(-14).saturating_sub(10);
    let digits = (size * 2_f64.powi(unit.saturating_neg())).round_ties_even() as u16;
    // Digits from 1024 on carry the leading bit, which counts up the exponent field.
    let field = u16::try_from(unit.saturating_add(24)).unwrap_or_default();
    sign | (field << 10).saturating_add(digits)
}
