"""The routes of the interface, by what they are about, and the bodies that they take."""
