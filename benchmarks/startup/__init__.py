"""Start-up time of programs that use Dovetail."""
