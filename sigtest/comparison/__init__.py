"""What is asked: recipe, comparison, and the plan that is left once texts are measured."""
