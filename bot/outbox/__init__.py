"""What the person sees: the view, its pages, and keeping a platform equal to it at the pace the platform bears."""
