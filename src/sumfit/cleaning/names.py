"""Words that are written with a capital, or in capitals, wherever they stand.

Owns the lists by which text in capitals is put into normal case. Words that are just as often
something else ("May", "Turkey", "US") are left to the rules of `sumfit.cleaning.capitals`.
"""

from __future__ import annotations

__all__ = [
    "ACRONYMS",
    "GIVEN_NAMES",
    "NAMES",
    "PHRASES",
    "SPELLED",
    "STREETS",
    "SURNAMES",
    "TITLES",
    "TOWNS",
]

TITLES = frozenset("mr mrs ms dr prof professor sen rep gov sir lady lord dame judge".split())
"""Words before a name, which has a capital."""

SPELLED = {
    form.lower(): form
    for form in """
    McDonald's YouTube iPhone iPad iOS macOS LinkedIn WhatsApp TikTok PayPal GitHub GitLab
    JavaScript TypeScript MySQL PostgreSQL SQLite eBay OpenAI ChatGPT WordPress PowerPoint Wi-Fi
    WiFi PhD mRNA kWh km/h mph kg km cm mm GHz MHz kHz GB MB KB TB pm am o'clock
    """.split()
}
"""Words with a capital at another place than the first, or with none after a number."""

ACRONYMS = frozenset(
    """
    ai api apis asap aws bbc bmw bp brexit ceo cfo cia cnn cpu cpus cso css csv cto cv dc diy
    dna dvd ecb eta eu faq fbi fda fda fema fifa ftse gdp gmt gop gps gpu gpus gst hbo hiv hmrc
    hq hr html http https ibm icc icu ids iea imf ioc iot ip ipo irs isis isp itv json jfk jpeg
    js kfc la lgbt llc ltd mba mit mlb mla mls mri mvp nasa nasdaq nato nba nbc nfl ngo nhl nhs
    noaa nsa nyc nypd nypd oecd opec os osha pc pcs pdf pga php plc pm png pr ps qa qr rbi rna
    rss sdk seo sms snp sql ssd ssh sec sos suv suvs tls tsa tv tvs uae ucla ufc ufo ui uk un
    unesco unhcr unicef url urls usa usb usd usda utc ux va vat vip vpn wto wwe xml yaml zip nws
    est edt cst cdt pst pdt mdt cet cest bst abc cbs aig
    """.split()
) - {"la", "os", "ps", "va", "zip", "est", "ltd", "brexit", "pm", "hr", "ids"}
"""Words in capitals."""

_OTHER_NAMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february april june july
    september october november december christmas easter ramadan hanukkah diwali thanksgiving
    halloween brexit covid ltd

    afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan
    bahamas bahrain bangladesh barbados belarus belgium belize benin bhutan bolivia bosnia
    botswana brazil britain brunei bulgaria burundi cambodia cameroon canada chile china
    colombia congo croatia cuba cyprus czechia denmark djibouti ecuador egypt england eritrea
    estonia ethiopia fiji finland france gabon gambia georgia germany ghana greece greenland
    grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq
    ireland israel italy jamaica japan kazakhstan kenya kosovo kuwait kyrgyzstan laos latvia
    lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar malawi malaysia
    maldives malta mauritania mauritius mexico moldova monaco mongolia montenegro morocco
    mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan
    palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa
    scotland senegal serbia singapore slovakia slovenia somalia spain sudan suriname sweden
    switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia turkmenistan uganda
    ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe

    african american arab argentine asian australian austrian belgian brazilian british
    bulgarian canadian chilean chinese christian colombian croatian cuban czech danish dutch
    egyptian english ethiopian european finnish french german greek hindu hungarian indian
    indonesian iranian iraqi irish islamic israeli italian japanese jewish kenyan korean kurdish
    latino lebanese malaysian mexican moroccan muslim nigerian norwegian pakistani palestinian
    peruvian portuguese romanian russian saudi scottish serbian spanish swedish swiss syrian
    taiwanese thai tunisian turkish ukrainian venezuelan vietnamese welsh

    alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii
    idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
    minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania
    tennessee texas utah vermont virginia wisconsin wyoming ontario quebec alberta manitoba
    saskatchewan queensland tasmania victoria

    aberdeen accra amsterdam ankara antwerp athens atlanta auckland austin baghdad baltimore
    bangkok barcelona basel beijing beirut belfast belgrade berlin berne birmingham bogota
    bologna bordeaux boston bremen brighton brisbane bristol brussels bucharest budapest cairo
    calgary cambridge canberra caracas cardiff casablanca charlotte chennai chicago cincinnati
    cleveland cologne copenhagen coventry dallas damascus delhi denver detroit dhaka doha
    dortmund dresden dubai dublin dundee edinburgh edmonton eindhoven florence frankfurt geneva
    genoa glasgow gothenburg graz hamburg hanoi hanover helsinki houston hyderabad indianapolis
    istanbul jakarta jerusalem johannesburg kabul karachi kathmandu kiev kyiv krakow kyoto lagos
    lahore leeds leicester leipzig lima lisbon liverpool ljubljana london lyon madrid malaga
    manchester manila marseille melbourne memphis miami milan milwaukee minneapolis minsk
    montreal moscow mumbai munich nairobi naples nashville newcastle nottingham nuremberg omaha
    orlando osaka oslo ottawa oxford paris perth philadelphia phoenix pittsburgh portland porto
    prague pretoria reykjavik riga rome rotterdam sacramento salzburg santiago sarajevo seattle
    seoul seville shanghai sheffield sofia southampton stockholm strasbourg stuttgart sydney
    tallinn tehran tokyo toronto toulouse tripoli tucson tulsa tunis turin utrecht valencia
    vancouver venice vienna vilnius warsaw wellington winnipeg zagreb zurich moines angeles
    francisco diego antonio vegas orleans york jersey hampshire dakota carolina zealand hague

    africa america asia europe atlantic pacific arctic antarctica mediterranean himalayas alps
    sahara manhattan brooklyn hollywood heathrow gatwick westminster kremlin pentagon wembley
    wimbledon

    airbus amazon android bitcoin boeing bundesbank citigroup disney ericsson facebook gazprom
    google honda huawei hyundai ikea instagram intel jpmorgan linux lufthansa mastercard
    mercedes microsoft mozilla netflix nintendo nissan nokia novartis nvidia openssl pfizer
    pixar porsche python reuters ryanair samsung siemens sony spacex spotify starbucks tesla
    toyota twitter uber unilever verizon vodafone volkswagen volvo walmart wikipedia yahoo excel
    """.split()
)

GIVEN_NAMES = frozenset(
    """
    adam ahmed alan albert alejandro alex alexander alice amanda andrea andreas andrew angela
    anna anne anthony antonio arthur barbara benjamin bernard beth brenda brian bruce carlos
    carol caroline catherine charles charlotte chris christina christopher claire colin craig
    daniel david deborah dennis diana diane donald dorothy douglas edward eleanor elizabeth
    emily emma eric erik ethan eva fatima fiona frances francesca frederick gary geoffrey george
    gordon graham gregory hannah hans harold harry heather helen helena henry howard hugh ian
    ingrid isabel isabella ivan jack jacob jacqueline james jane janet jason javier jeffrey
    jennifer jeremy jessica joan joe john jonas jonathan jose joseph joshua juan judith julia
    julian julie karen karl katherine keith kelly kenneth kevin klaus kyle larry laura lauren
    lawrence leo leonard leslie linda lisa louis louise lucas lucy luis luke marco marcus
    margaret maria marie mario marta martha martin martina mary matthew megan melissa michael
    michelle miguel mohammed monica nancy natalie nathan neil nicholas nicola nicole nigel nina
    noah norman olga oliver olivia omar oscar pamela patricia patrick paul paula pedro peter
    philip philippa rachel rafael ralph raymond rebecca richard robert roberto roger ronald
    russell ruth ryan samantha samuel sandra sarah scott sean sebastian sergei sharon sheila
    simon sofia sophia sophie stefan stephanie stephen steven stuart susan suzanne sylvia teresa
    theresa thomas timothy tom tony tracy valerie vanessa vera victor vincent vladimir walter
    wendy william yusuf yvonne zoe
    """.split()
)
"""Given names; those that are more often another word ("Will", "Grace") are left out."""

NAMES = _OTHER_NAMES | GIVEN_NAMES
"""Words with a capital: days, months, countries, peoples, cities, firms, given names."""

SURNAMES = frozenset(
    """
    archer baker banks barber bell berry best bird bishop black bond brook brooks brown burns bush
    butler carpenter carter cash chandler church clark clay cole collier cook cooper crane cross day
    dean draper dyer farmer field fields finch fisher ford forest foster fowler fox frost gardner
    glass glover gold goodman grant graves gray green grey hall harper hart hawkins hill hood hope
    hunt hunter jones joy judge kay king kirk knight lake lamb lane law lee little lock long love
    marsh mason may mercer miller mills moon moore moss newman noble north page palmer park parker
    parks parsons peacock penny piper pope porter potter pound power price reed rice rich rivers
    robins rose sawyer sharp shaw shepherd short silver singer skinner slater smith snow speaker
    spring stone strange street strong summers swift taylor thatcher tucker turner tyler underwood
    wade waiter walker wall waller ward waters weaver webb west wheeler white wise wolf wood woods
    woodward wright young
    """.split()
)
"""Ordinary words that are a surname behind a given name."""

STREETS = frozenset("street road lane avenue square crescent boulevard quay terrace".split())
"""Words behind the name of a street."""

TOWNS = frozenset(
    """
    barking bath bury cork crewe deane derby hull mull nice poole reading rugby sandwich settle
    split stoke wells worthing
    """.split()
)
"""Ordinary words that are a town behind "in", "near" or "from"."""

PHRASES = (
    "Des Moines|New York|New Zealand|New Jersey|New Orleans|New Hampshire|New Mexico|"
    "New Delhi|Los Angeles|Las Vegas|San Francisco|San Diego|San Antonio|San Jose|"
    "San Juan|Santa Fe|North Korea|South Korea|North Dakota|South Dakota|North Carolina|"
    "South Carolina|South Africa|West Virginia|Rhode Island|Saudi Arabia|Sri Lanka|"
    "Hong Kong|United States|United Kingdom|United Nations|United Arab Emirates|"
    "European Union|White House|Wall Street|Costa Rica|Puerto Rico|El Salvador|"
    "Sierra Leone|Ivory Coast|Buenos Aires|Rio de Janeiro|Sao Paulo|Mexico City|"
    "Abu Dhabi|Tel Aviv|Cape Town|West Bank|Middle East|Northern Ireland|"
    "Prince Edward Island|British Columbia|Great Britain|Papua New Guinea|Burkina Faso|"
    "Northern Territory|New South Wales|Salt Lake City|Kansas City|Oklahoma City|"
    "Fort Worth|El Paso|Air Force|Red Cross|World Cup|Premier League|Champions League|"
    "Super Bowl|Supreme Court|Black Sea|Red Sea|North Sea|Gulf of Mexico|Silicon Valley|"
    "Capitol Hill|Scotland Yard|Downing Street|General Motors|Goldman Sachs|Rolls-Royce|"
    "Deutsche Bank|Bank of England|Coca-Cola|Red Hat|Real Madrid"
).split("|")
"""Names of several words, some of which are common ones by themselves."""
