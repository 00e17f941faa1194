//! The threads: made on first use, once per process, and shared by all calls.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::ask;
use crate::error::{Error, Result};
use crate::fork::{self, PerProcess};

/// How often a waiting or working caller asks whether it should stop.
const POLL: Duration = Duration::from_millis(20);

/// Asked now and then on the calling thread; `true` stops the call.
pub type Interrupt<'a> = &'a dyn Fn() -> bool;

type Work<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync + 'a);

struct Job {
    next: AtomicUsize,
    tasks: usize,
    stop: AtomicBool,
    error: Mutex<Option<Error>>,
    busy: Mutex<usize>,
    idle: Condvar,
    work: Work<'static>,
}

struct Pool {
    queue: Mutex<Vec<Arc<Job>>>,
    wake: Condvar,
    helpers: usize,
}

static POOL: PerProcess<OnceLock<&'static Pool>> = PerProcess::new(OnceLock::new);

fn pool() -> &'static Pool {
    POOL.get().get_or_init(start)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> &'static Pool {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool: &'static Pool = Box::leak(Box::new(Pool {
        queue: Mutex::new(Vec::new()),
        wake: Condvar::new(),
        helpers: cores.saturating_sub(1),
    }));
    let (tell, told) = mpsc::channel();
    for i in 0..pool.helpers {
        let name = format!("omnizarr-{i}");
        let tell = tell.clone();
        // A thread that cannot be had is only a slower call: the caller does the work itself.
        drop(std::thread::Builder::new().name(name).spawn(move || help(pool, tell)));
    }
    drop(tell);
    // Until the last one has called its hook: one that comes late would call it while the program ends.
    while told.recv().is_ok() {}
    pool
}

/// Number of threads that work on one call, the caller's own included.
pub fn threads() -> usize {
    pool().helpers.saturating_add(1)
}

static ON_START: OnceLock<(fn(), bool)> = OnceLock::new();

/// Have each thread of the pool call `hook` once before it works; the first hook stays.
///
/// `guarded`: it may take a lock that a child must not find taken, so no process is forked meanwhile. Not where who forks
/// holds that lock itself: one would wait for the other.
pub fn on_thread_start(hook: fn(), guarded: bool) {
    let _ = ON_START.set((hook, guarded));
}

fn help(pool: &'static Pool, ready: mpsc::Sender<()>) {
    if let Some((hook, guarded)) = ON_START.get() {
        let _fork = guarded.then(fork::guard);
        hook();
    }
    drop(ready);
    let mut queue = lock(&pool.queue);
    loop {
        let found = queue.iter().find(|job| job.open()).map(Arc::clone);
        if let Some(job) = found {
            job.enter();
            drop(queue);
            job.labour(None);
            job.leave();
            queue = lock(&pool.queue);
        } else {
            queue = pool.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Job {
    fn open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.tasks && !self.stop.load(Ordering::Relaxed)
    }

    fn enter(&self) {
        let mut busy = lock(&self.busy);
        *busy = busy.saturating_add(1);
    }

    fn leave(&self) {
        let mut busy = lock(&self.busy);
        *busy = busy.saturating_sub(1);
        self.idle.notify_all();
    }

    fn fail(&self, error: Error) {
        self.stop.store(true, Ordering::Relaxed);
        lock(&self.error).get_or_insert(error);
    }

    /// Take tasks until none is left; only the caller's thread has an interrupt to ask.
    ///
    /// What waits inside a task stops when the job does.
    fn labour(&self, interrupt: Option<Interrupt<'_>>) {
        let stop = || self.stop.load(Ordering::Relaxed) || interrupt.is_some_and(|ask| ask());
        ask::with(&stop, || self.work_off(interrupt));
    }

    fn work_off(&self, interrupt: Option<Interrupt<'_>>) {
        let mut asked = interrupt.map(|ask| (ask, Instant::now()));
        while !self.stop.load(Ordering::Relaxed) {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            if i >= self.tasks {
                return;
            }
            if let Err(error) = guarded(self.work, i) {
                return self.fail(error);
            }
            if let Some((ask, last)) = &mut asked
                && last.elapsed() >= POLL
            {
                *last = Instant::now();
                if ask() {
                    return self.fail(Error::Interrupted);
                }
            }
        }
    }
}

/// Run one task; a panic is a defect of ours, and still only an error of this call.
fn guarded(work: Work<'_>, i: usize) -> Result<()> {
    catch_unwind(AssertUnwindSafe(|| work(i))).unwrap_or_else(|cause| Err(Error::Invalid(describe(&*cause))))
}

fn describe(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().copied().or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    format!("internal error: {}; please report it", text.unwrap_or("a task panicked"))
}

/// Run `work(0) … work(tasks - 1)`, on all threads if `parallel`, and return when all are done or one has failed.
pub fn run(tasks: usize, parallel: bool, interrupt: Interrupt<'_>, work: Work<'_>) -> Result<()> {
    if tasks <= 1 || !parallel || pool().helpers == 0 {
        return alone(tasks, interrupt, work);
    }
    let pool = pool();
    // SAFETY: the job is taken off the queue and all helpers have left it before this function returns, so the borrow
    // never outlives its owner.
    #[allow(unsafe_code)]
    let work = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
    let job = Arc::new(Job {
        next: AtomicUsize::new(0),
        tasks,
        stop: AtomicBool::new(false),
        error: Mutex::new(None),
        busy: Mutex::new(0),
        idle: Condvar::new(),
        work,
    });
    lock(&pool.queue).push(Arc::clone(&job));
    if tasks > pool.helpers {
        pool.wake.notify_all();
    } else {
        (1..tasks).for_each(|_| pool.wake.notify_one());
    }
    job.labour(Some(interrupt));
    lock(&pool.queue).retain(|other| !Arc::ptr_eq(other, &job));
    let mut busy = lock(&job.busy);
    while *busy > 0 {
        let (held, wait) = job.idle.wait_timeout(busy, POLL).unwrap_or_else(PoisonError::into_inner);
        busy = held;
        if wait.timed_out() && !job.stop.load(Ordering::Relaxed) {
            drop(busy);
            if interrupt() {
                job.fail(Error::Interrupted);
            }
            busy = lock(&job.busy);
        }
    }
    drop(busy);
    lock(&job.error).take().map_or(Ok(()), Err)
}

/// How many tasks that mostly wait are under way at once.
const WIDE: usize = 48;

/// As [`run`], for tasks that wait for a server more than they work.
pub fn run_far(tasks: usize, interrupt: Interrupt<'_>, work: Work<'_>) -> Result<()> {
    if tasks <= 1 {
        return alone(tasks, interrupt, work);
    }
    let (next, stop, error) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(None));
    let left = AtomicUsize::new(tasks.min(WIDE));
    let fail = |failure: Error| {
        stop.store(true, Ordering::Relaxed);
        lock(&error).get_or_insert(failure);
    };
    let labour = || {
        ask::with(&|| stop.load(Ordering::Relaxed), || {
            while !stop.load(Ordering::Relaxed) {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= tasks {
                    break;
                }
                if let Err(failure) = guarded(work, i) {
                    fail(failure);
                }
            }
        });
        left.fetch_sub(1, Ordering::Release);
    };
    std::thread::scope(|scope| {
        for _ in 0..tasks.min(WIDE) {
            let made = std::thread::Builder::new().name("omnizarr-far".into()).spawn_scoped(scope, labour);
            if made.is_err() {
                labour();
            }
        }
        while left.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(1));
            if interrupt() || ask::stop() {
                fail(Error::Interrupted);
            }
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn alone(tasks: usize, interrupt: Interrupt<'_>, work: Work<'_>) -> Result<()> {
    ask::with(interrupt, || one_by_one(tasks, interrupt, work))
}

fn one_by_one(tasks: usize, interrupt: Interrupt<'_>, work: Work<'_>) -> Result<()> {
    let mut last: Option<Instant> = None;
    for i in 0..tasks {
        guarded(work, i)?;
        if i == 0 && tasks > 1 {
            last = Some(Instant::now());
        } else if let Some(then) = last
            && then.elapsed() >= POLL
        {
            last = Some(Instant::now());
            if interrupt() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once() {
        let hits: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        run(1000, true, &|| false, &|i| {
            hits.get(i).unwrap().fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn nested_calls_do_not_wait_for_each_other() {
        let total = AtomicUsize::new(0);
        run(8, true, &|| false, &|_| {
            run(8, true, &|| false, &|_| {
                total.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        })
        .unwrap();
        assert_eq!(total.load(Ordering::Relaxed), 64);
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let failed = run(100, true, &|| false, &|i| if i == 50 { panic!("boom") } else { Ok(()) });
        assert!(failed.unwrap_err().to_string().contains("boom"));
    }

    #[test]
    fn an_interrupt_stops_the_call() {
        let failed = run(1_000_000, true, &|| true, &|_| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        assert!(matches!(failed, Err(Error::Interrupted)));
    }
}
