"""The studio: recordings and running simulations in a browser, served on this machine (`crumple view`)."""
