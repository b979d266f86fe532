"""The commands of `linerate`, each in a module of its name, and what they share."""
