"""Two hundred tools in a module of their own: on the search path of ``bot.tools`` the house finds them like its own."""
