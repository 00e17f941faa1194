"""Work on whole datasets: each tool is a function that returns values; the commands of `oz` only print them."""
