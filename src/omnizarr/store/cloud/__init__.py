"""Object stores: where they are, with what credentials, and what other libraries call them."""
