"""What people bring: texts, test sets, numbers, names; knows no metric."""
