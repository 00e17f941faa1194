"""Moving values between arrays that are cut otherwise, in bounded memory."""
