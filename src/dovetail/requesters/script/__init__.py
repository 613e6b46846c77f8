"""What a scripted model says: replies made of steps, taken in order."""
