"""Texts that ``sumfit bench`` times when it is given none: news leads written for it."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS = (
    "The city council voted late on Tuesday to close the old harbour bridge for eighteen months "
    "after engineers found cracks in two of its main supports, a decision that shop owners on the "
    "northern bank said would cost them a third of their customers.",
    "Shares of the country's largest grocery chain fell nine percent on Thursday after it warned "
    "that higher energy prices and a strike at its main warehouse would wipe out most of this "
    "year's profit.",
    "Scientists who tagged more than four hundred eels in the river delta say that the animals "
    "reach the open sea two weeks earlier than they did twenty years ago, most likely because the "
    "water has become warmer.",
    "A storm that tore roofs from houses along the northern coast moved inland overnight, leaving "
    "about sixty thousand homes without power and closing the motorway between the two largest "
    "cities of the region.",
    "The central bank raised its key interest rate by a quarter of a point to four percent, its "
    "seventh increase in a row, and said that it would wait for new figures on wages before it "
    "decides on another step in the autumn.",
    "The national museum will return eleven bronze figures to the kingdom from which they were "
    "taken in 1897, its director said on Friday, ending a dispute that had lasted for more than "
    "forty years.",
    "A start-up that makes batteries from sodium instead of lithium has raised two hundred million "
    "dollars to build its first large factory, which it hopes to open within three years near the "
    "border.",
    "Teachers in the capital ended their walkout on Sunday after the government promised smaller "
    "classes and a pay rise of six percent spread over two years, and schools are expected to open "
    "again on Monday morning.",
    "Doctors at the university hospital have used a pocket ultrasound device linked to a phone to "
    "examine patients in mountain villages, and report that it found heart defects as reliably as "
    "the far larger machines in their clinic.",
    "The goalkeeper saved two penalties in the shoot-out as the visitors, who had played with ten "
    "men for more than an hour, reached the final of the cup for the first time since 1974.",
    "Farmers in the south say that the driest spring since records began has cost them half of the "
    "wheat harvest, and ask for loans without interest to buy seed before the next season.",
    "The browser's next version will block trackers by default and warn when a page asks for the "
    "location of the user more than once, its makers announced, following complaints by consumer "
    "groups in several countries.",
)
