"""The rules from which postal addresses are made, one grammar for each country.

A line `rule = this | that ^3` gives the ways to write something, the second three times as likely as the first; in
them `{other}` stands for the outcome of another rule, and a rule that a country lacks is taken from COMMON. Rules tha
  t
glue syllables make the vocabulary endless. The rule `address` lists parts as `LABEL:rule`, or `LABEL:rule/30` for a
part that is there in 30 of 100 addresses; everything else in it is punctuation, labelled O. A comma is where a line
would end on an envelope.

The words overlap on purpose: cities are called after people and states, streets after cities and people, firms after
all of them. Only the context tells them apart.
"""

from __future__ import annotations

__all__ = ["COMMON", "COUNTRIES"]

COMMON = """
d = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
p = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
L = A | B | C | D | E | F | G | H | J | K | L | M | N | P | R | S | T | V | W | X
number = {p} ^2 | {p}{d} ^4 | {p}{d}{d} ^2
house = {number} ^8 | {number}{L} | {number}-{number}
box = {p}{d}{d} | {p}{d}{d}{d} ^2 | {p}{d} {d}{d} {d}{d}
worldcity = Paris | London | Berlin | Madrid | Rome | Vienna | Moscow | Cairo | Delhi | Lisbon | Athens | Geneva
"""

UNITED_STATES = """
address = NAME:person/60 , HOUSE:house STREET:street , UNIT:unit/30 , CITY:city , REGION:state POSTCODE:zip
   , COUNTRY:country/30 ^4
 | ORG:org , HOUSE:house STREET:street UNIT:unit/50 , CITY:city , REGION:state POSTCODE:zip , COUNTRY:country/30 ^2
 | ORG:org , Attn: NAME:person , HOUSE:house STREET:street , CITY:city REGION:state POSTCODE:zip
 | NAME:person/50 , ORG:org/40 , POBOX:pobox , CITY:city , REGION:state POSTCODE:zip , COUNTRY:country/20
 | HOUSE:house STREET:street UNIT:unit/30 , CITY:city REGION:state/80 POSTCODE:zip/60 ^2
person = {given} {surname} ^5 | {given} {L}. {surname} ^2 | Dr. {given} {surname} | Mr. {surname}
 | Mrs. {given} {surname}
given = James | Mary | Robert | Linda | David | Susan | Austin | Madison | Georgia | Virginia | Carolina | Jackson
 | Tyler | Paris | Brooklyn | {Start}{end}
surname = Smith | Johnson | Williams | Brown | Jones | Miller | Davis | Lincoln | Houston | Washington | Jefferson
 | Jackson | Madison | King | Hill | Park | Lane | {Start}{surend} ^8
Start = Al | Bar | Brad | Cal | Car | Dal | Den | El | Far | Gil | Har | Hol | Ken | Lan | Mar | Nor | Pres | Ral
 | Stan | Tren | Wal | Wes
end = a | en | ey | ie | on | ina | ella | vin | ric | bert
surend = son | man | ley | ton | well | ford | wood | field | er | berg | ski | ers
city = {worldcity} ^2 | New York | Washington ^2 | Houston | Lincoln | Madison | Jackson | Austin | Tyler
 | Kansas City | St. Louis | Los Angeles | Salt Lake City | {Start}{cityend} ^8 | {New} {Start}{cityend} ^3
 | {surname}{ville} ^4 | Mount {surname} | {surname} City
New = New | Fort | West | East | North | South | Lake | Port | San | Santa
cityend = ton | ville | burg | dale | field | wood | port | ford | mont | view
ville = ville | burg | ton | town
state = NY ^2 | CA ^2 | TX ^3 | FL | WA | MA | IL | GA | VA | OH | NE | WI | MS | MO | UT | {longstate} ^3
longstate = New York | California | Texas ^2 | Florida | Washington | Georgia | Virginia | Ohio | North Carolina
 | Nebraska | Mississippi | New Mexico
zip = {d}{d}{d}{d}{d} ^4 | {d}{d}{d}{d}{d}-{d}{d}{d}{d}
house = {number} ^3 | {p}{d}{d}{d} ^4 | {p}{d}{d}{d}{d} | {number} 1/2 | {number}{L}
street = {streetname} {kind} ^9 | {compass} {streetname} {kind} ^2 | {compass} {nth} {kind} ^2 | {nth} {kind} ^2
 | {streetname} {kind} {compass} | Broadway | Avenue of the Americas | Avenue {L} | State Route {number}
 | Highway {number} | County Road {number} | Martin Luther King Jr. Blvd
streetname = {surname} ^4 | {given} {surname} | {worldcity} ^2 | {longstate} | Main ^2 | Oak | Maple | Elm | Park
 | Lake | Hill | St. {given} | {city} | {Start}{cityend} ^2
kind = St ^3 | St. ^3 | Street ^3 | Ave ^3 | Ave. | Avenue ^2 | Rd ^2 | Road ^2 | Blvd | Dr ^2 | Dr. | Drive | Ln
 | Lane | Ct | Court | Pl | Way | Pkwy | Terrace | Circle
compass = N | S | E | W | N. | W. | NW | SE | North | West
nth = 1st | 2nd | 3rd | {p}th | {p}{d}th | 42nd | First | Second | Fifth
unit = Apt {aptno} ^3 | Apt. {aptno} | Apartment {aptno} | # {aptno} ^2 | #{aptno} | Suite {number} ^2
 | Ste {number} | Unit {aptno} | Fl {p} | {nth} Floor | Room {number} | Bldg {L}
aptno = {p}{L} | {number} | {L} | {L}-{p} | {p}{d}{d}
pobox = PO Box {box} ^3 | P.O. Box {box} ^2 | P. O. Box {box} | Post Office Box {box} | POB {box}
org = {surname} & Sons | {surname} , {surname} & {surname} LLP | {surname} {trade} {legal} ^3 | {city} {trade} ^2
 | First Bank of {city} | University of {longstate} | {city} Public Library | {surname} Memorial Hospital
 | {Start}{techend} {legal} ^3 | {longstate} {trade} {legal}
trade = Plumbing | Insurance | Motors | Dental Care | Hardware | Consulting | Foods | Realty | Law Offices
 | Street Market
legal = Inc. ^2 | Inc | LLC ^2 | Corp. | Co. | Ltd.
techend = tech | soft | dyne | gen | ico | ara | ium
country = USA ^3 | U.S.A. | United States ^2 | United States of America | US
"""

UNITED_KINGDOM = """
address = NAME:person/60 , UNIT:unit/25 , HOUSE:house STREET:street , CITY:city , REGION:county/35 , POSTCODE:code
   , COUNTRY:country/30 ^4
 | ORG:org , UNIT:unit/30 , HOUSE:house STREET:street , CITY:city POSTCODE:code , COUNTRY:country/30 ^2
 | NAME:person/60 , HOUSE:cottage , STREET:street , CITY:city , REGION:county/60 POSTCODE:code
 | UNIT:unit , HOUSE:house STREET:street , CITY:city , POSTCODE:code/70
 | ORG:org/70 , POBOX:pobox , CITY:city , POSTCODE:code
person = {given} {surname} ^4 | Mr {L} {surname} | Mrs {given} {surname} | Ms {L}. {surname} | Dr {surname}
 | Sir {given} {surname}
given = Oliver | Amelia | Harry | Florence | Jack | Chelsea | George | Charlotte | Victoria | Albert | {Start}{end}
Start = Al | Ash | Brad | Bex | Chel | Cam | Dun | Ed | Far | Glen | Hax | Kir | Lan | Mal | Nor | Ox | Pem | Rad
 | Stan | Thorn | Wim | Win
end = a | ie | win | mund | ric | ine | ey | bert
surname = Smith | Taylor | Davies | Walker | Wood | Churchill | Wellington | Nelson | York | Lancaster | Victoria
 | {Start}{surend} ^7
surend = ley | ton | ham | worth | shaw | well | man | son | by | wick
city = London ^3 | Manchester | Birmingham | Leeds | York | Bath | Oxford | Lancaster | Wells | Reading | Sandwich
 | Lincoln | Newcastle upon Tyne | {Start}{cityend} ^8 | {Great} {Start}{cityend} ^2 | {Start}{cityend}-on-Sea
 | St {given}s | Stoke {surname}
Great = Great | Little | Upper | Market | Kings | Bishop's | East | West
cityend = ton | ham | bury | ford | mouth | bridge | chester | wick | combe | by
county = Kent | Surrey | Essex | Lancashire | Yorkshire | Devon | Norfolk | Oxfordshire | West Sussex | Co. Durham
 | {Start}shire
code = {area}{p} {p}{c}{c} ^2 | {area}{p}{d} {p}{c}{c} ^3 | {area}{p}{L} {p}{c}{c} | {area}{p}{d}{p}{c}{c}
area = SW | SE | N | E | W | NW | M | B | LS | OX | BA | CB | EH | G | YO | BS | NE
c = A | B | D | E | F | G | H | J | L | N | P | Q | R | S | T | U | W | X | Y | Z
street = {streetname} {kind} ^8 | The {kind} | {city} Road ^2 | St {given}'s {kind} ^2 | High Street ^2
 | Station Road | Piccadilly | Strand | Cheapside | High Holborn | {streetname} Hill
streetname = {surname} ^3 | {worldcity} | {city} | Victoria | Albert | Church | Mill | Park | King's | Queen
 | Green | {Start}{cityend}
kind = Street ^3 | St ^2 | St. | Road ^3 | Rd ^2 | Lane ^2 | Close ^2 | Avenue | Ave | Gardens | Crescent | Mews
 | Square | Place | Row | Way | Terrace | Grove
cottage = {Rose} Cottage | {Rose} House | The Old {Rectory} | {surname} Hall | {Rose} Farm
Rose = Rose | Ivy | Orchard | Mill | Oak | Victoria | Rowan | Lavender
Rectory = Rectory | Vicarage | School House | Post Office | Bakery
unit = Flat {p} ^3 | Flat {p}{L} | Flat {number} | {nth} Floor | Unit {number} | Apartment {p}{d} | Suite {p}
 | Basement Flat
nth = 1st | 2nd | 3rd | First | Second | Ground | Top
pobox = PO Box {box} ^3 | P.O. Box {box}
org = {surname} & {surname} Ltd | {surname} {trade} Ltd ^2 | {city} {trade} ^2 | University of {city}
 | The {Rose} & Crown | {surname} Bros. | {city} City Council | Bank of {city} | {surname} {trade} PLC
 | St {given}'s Hospital
trade = Motors | Bakery | Books | Solicitors | Estates | Engineering | Gardens | Tea Rooms | Building Society
country = UK ^2 | United Kingdom ^3 | England ^2 | Great Britain | Scotland | Wales
"""

GERMANY = """
address = NAME:person/70 , STREET:street HOUSE:house , UNIT:unit/10 , POSTCODE:code CITY:city , COUNTRY:country/30 ^5
 | ORG:org , STREET:street HOUSE:house , POSTCODE:code CITY:city , COUNTRY:country/30 ^3
 | ORG:org , z.Hd. NAME:person , STREET:street HOUSE:house , POSTCODE:code CITY:city
 | ORG:org/60 , POBOX:pobox , POSTCODE:code CITY:city
 | STREET:street HOUSE:house , POSTCODE:code/70 CITY:city
person = {given} {surname} ^5 | Herr {surname} | Frau {given} {surname} | Familie {surname} | Dr. {given} {surname}
 | Prof. Dr. {surname} | {given} von {surname}
given = Hans | Anna | Karl | Greta | Jürgen | Käthe | Friedrich | Goethe | Martin | Luise | {Start}{end}
Start = Al | Bern | Bur | Diet | Eck | Fried | Ger | Hart | Hein | Karl | Lud | Mein | Neu | Ober | Rein | Schön
 | Stein | Wald | Weiß | Wolf
end = ol | mar | rich | helm | traud | a | linde | gard
surname = Müller | Schmidt | Schneider | Weber | Bach | Berlin | Berliner | Schiller | Bremer | Frank
 | {Start}{surend} ^7
surend = mann | er | bach | hardt | ner | ke | auer | stein
city = Berlin ^2 | München | Hamburg | Köln | Frankfurt am Main | Bremen | Halle (Saale) | Bad {Start}{cityend} ^2
 | {Start}{cityend} ^9 | {Start}{cityend} am {River} | St. {given} | Neustadt
cityend = burg | heim | dorf | stadt | hausen | ingen | berg | feld | au | bach
River = Main | Rhein | Neckar | See | Inn
code = {p}{d}{d}{d}{d} ^6 | D-{p}{d}{d}{d}{d} ^2
street = {stem}{strasse} ^5 | {stem}{weg} ^3 | {adjective} {Strasse} ^3 | {given}-{surname}-{Strasse} ^2
 | {city}er {Strasse} | Am {place} ^2 | Unter den Linden | An der {place} | Zum {place} | Platz der Republik
stem = {Start} ^2 | Haupt ^2 | Bahnhof | Garten | Schul | Kirch | Linden | {surname} ^2 | Goethe | Schiller | Mozart
adjective = Berliner | Pariser | Wiener | Londoner | Münchner | Lange | Neue | Alte | {Start}er | {Start}{cityend}er
strasse = straße ^3 | str. ^4 | strasse
Strasse = Straße ^3 | Str. ^3 | Strasse | Allee | Chaussee | Platz | Ring
weg = weg ^3 | gasse | allee | platz | ring | damm | ufer
place = Markt | Kirchberg | Bahnhof | Alten {Start}bach | {Start}berg | Rathaus | Mühle
house = {number} ^7 | {number}{letterlow} | {number} {letterlow} | {number}-{number}
letterlow = a | b | c
unit = Wohnung {p} | {p}. OG | Whg. {p} | Hinterhaus | {p}. Stock links
pobox = Postfach {box} ^3 | Pf. {box}
org = {surname} GmbH ^2 | {surname} & {surname} OHG | {city}er {trade} GmbH | {trade} {surname} ^2 | {surname} AG
 | Universität {city} | Hotel {city}er Hof | Stadtwerke {city} | {trade} {surname} e.K. | Stadt {city}
trade = Bäckerei | Autohaus | Optik | Apotheke | Versicherung | Maschinenbau | Kanzlei | Praxis
country = Deutschland ^3 | Germany ^3 | DE | BRD
"""

FRANCE = """
address = NAME:person/70 , UNIT:unit/20 , HOUSE:house STREET:street , POSTCODE:code CITY:city , COUNTRY:country/30 ^5
 | ORG:org , HOUSE:house , STREET:street , POSTCODE:code CITY:city , COUNTRY:country/30 ^2
 | ORG:org , NAME:person/40 , HOUSE:house STREET:street , POBOX:pobox/40 , POSTCODE:code CITY:cedex
 | HOUSE:house STREET:street , POSTCODE:code/80 CITY:city
person = {given} {surname} ^4 | M. {given} {surname} | Mme {surname} | M. et Mme {surname} | {given} de {surname}
given = Jean | Marie | Pierre | Camille | Victor | Hugo | Jeanne | René | Chloé | Florence | {Start}{end}
Start = Beau | Bon | Bel | Cha | Clair | Dela | Du | Four | Gran | Lau | Mont | Mar | Pas | Ro | Sau | Ver | Vil
end = ette | ine | ien | ard | elle | ie
surname = Martin | Bernard | Dubois | Moreau | Paris | Lyon | Leclerc | Picard | Hugo | Pasteur | {Start}{surend} ^7
surend = mont | ier | ard | eau | et | lin | court | ville | not
city = Paris ^3 | Lyon | Marseille | Nice | Tours | Lille | Le Mans | La Rochelle | {Start}{cityend} ^8
 | Saint-{given} ^3 | {Start}{cityend}-sur-{River} ^2 | St {given} de {Start}{cityend} | L'Isle-{Start}{cityend}
cityend = ville | court | mont | gny | sac | lieu | nay | bourg
River = Seine | Loire | Mer | Saône | Marne
cedex = {city} Cedex ^2 | {city} Cedex {number} | {city} CEDEX {p}
code = {d}{p}{d}{d}{d} ^3 | {p}{d}{d}00 ^3 | F-{p}{d}{d}{d}{d}
street = {kind} {of} {thing} ^6 | {kind} {given} {surname} ^3 | {kind} {surname} ^2 | {kind} du {General} {surname}
 | {kind} de {city} ^2 | {kind} Saint-{given} | {kind} du {p} Mai 19{d}{d}
of = de la | du | des
thing = République | Gare | Moulin | Église | Lilas | Paix | Liberté | Pont | Château | {Start}{cityend} | Fontaine
General = Général | Maréchal | Docteur | Président
kind = rue ^6 | Rue ^4 | avenue ^2 | Av. ^2 | av | boulevard | Bd ^2 | Bld | place | Pl. | chemin | impasse | quai
 | allée | r.
house = {number} ^6 | {number} bis ^2 | {number} ter | {number}{L}
unit = Apt {number} | Appt. {p} | Bât. {L} ^2 | Bâtiment {L} | {p}e étage | Résidence {thing} | Esc. {L}
pobox = BP {box} ^3 | B.P. {box} | CS {d}{d}{d}{d}{d}
org = {surname} SARL ^2 | {trade} {surname} ^3 | {surname} & Fils | Mairie de {city} ^2 | Hôtel de {city}
 | Société {surname} SA | Université de {city} | {trade} de la {thing} | Lycée {given} {surname}
trade = Boulangerie | Garage | Pharmacie | Cabinet | Librairie | Restaurant | Éditions
country = France ^5 | FRANCE | FR
"""

SPAIN = """
address = NAME:person/70 , STREET:street , HOUSE:house , UNIT:unit/45 , POSTCODE:code CITY:city , REGION:region/35
   , COUNTRY:country/30 ^5
 | ORG:org , STREET:street HOUSE:house , UNIT:unit/20 , POSTCODE:code CITY:city REGION:bracketed
   , COUNTRY:country/20 ^2
 | STREET:street HOUSE:house UNIT:unit/40 , POSTCODE:code/80 CITY:city REGION:region/20
 | ORG:org/60 , POBOX:pobox , POSTCODE:code CITY:city
person = {given} {surname} {surname} ^4 | {given} {surname} ^2 | D. {given} {surname} | Dña. {given} {surname}
 | Sra. {surname} | María {given} {surname} de {surname}
given = Juan | María | José | Carmen | Santiago | Mercedes | León | Dolores | Cádiz | Iñigo | {Start}{end}
Start = Al | Bar | Cas | Es | Fuen | Gar | Her | Lla | Mon | Nav | Oli | Pal | Que | Sal | Tor | Val | Villa | Zar
end = ito | ina | ián | elo | inda | ardo
surname = García | Sevilla | Toledo | Martínez | López | Valencia | Cervantes | Colón | Navarro | {Start}{surend} ^7
surend = ez | ero | ano | eda | uela | ada | ita | osa
city = Madrid ^2 | Barcelona | Sevilla | Toledo | León | Valencia | Córdoba | Las Palmas | {Start}{cityend} ^8
 | San {given} de {Start}{cityend} ^2 | Santa {given} | {Start}{cityend} de la {Sierra} ^2 | El {Start}{cityend}
cityend = lanca | dona | ejo | alba | mayor | blanca | ón | ares | uelos
Sierra = Sierra | Frontera | Reina | Vega | Mancha
bracketed = ({region})
region = Madrid | Barcelona | Sevilla | Toledo | Valencia | Cádiz | Murcia | Navarra | Islas Baleares | La Rioja
code = {d}{p}{d}{d}{d} ^5 | E-{p}{d}{d}{d}{d}
street = {kind} {of} {thing} ^5 | {kind} {given} {surname} ^3 | {kind} {surname} ^2 | {kind} de {city} ^3
 | {kind} San {given} | Gran Vía | {kind} Doctor {surname} | Rambla de {thing}
of = de la | del | de los | de las
thing = Constitución | Sol | Reyes | Flores | Paz | Iglesia | Mar | Fuente | {Start}{cityend}
kind = Calle ^4 | C/ ^5 | calle ^2 | Cl. | Avenida ^2 | Avda. ^3 | Av. | Plaza ^2 | Pza. | Paseo | P.º | Camino
 | Ctra.
house = {number} ^6 | nº {number} ^2 | núm. {number} | s/n | {number} bis
unit = {p}º {L} ^3 | {p}.º {side} ^2 | piso {p} | {p}º , {p}ª | Bajo {L} | Esc. {L} {p}º {L} | Ático
 | puerta {p}{d} | Bloque {p}
side = izq. | dcha. | izquierda | derecha
pobox = Apartado de Correos {box} | Apdo. {box} ^2 | Apartado {box}
org = {trade} {surname} S.L. ^3 | {surname} Hermanos , S.A. | Ayuntamiento de {city} ^2 | {trade} {city} ^2
 | Bar {city} | Hotel {surname} | Universidad de {city} | Banco de {city} S.A. | Colegio San {given}
trade = Talleres | Farmacia | Librería | Construcciones | Bodegas | Panadería | Transportes
country = España ^4 | Spain ^3 | ESPAÑA
"""

INDIA = """
address = NAME:person/60 , UNIT:unit/45 , HOUSE:house STREET:street , CITY:city - POSTCODE:pin , REGION:state/50
   , COUNTRY:country/40 ^3
 | NAME:person/50 , HOUSE:door , STREET:street , CITY:city POSTCODE:pin , REGION:state/60 , COUNTRY:country/30 ^3
 | ORG:org , UNIT:unit/50 , HOUSE:house STREET:street , CITY:city , REGION:state - POSTCODE:pin
   , COUNTRY:country/40 ^2
 | C/o NAME:person , HOUSE:door STREET:street , CITY:city , REGION:state POSTCODE:pin
 | ORG:org/50 , POBOX:pobox , CITY:city POSTCODE:pin
person = {given} {surname} ^4 | Shri {given} {surname} | Smt. {given} {surname} | Mr. {L}. {surname}
 | Dr. {given} {L}. {surname} | {L}. {L}. {surname}
given = Rahul | Priya | Amit | Lakshmi | Arjun | Indira | Gandhi | Krishna | {Start}{end} ^3
Start = Am | An | Bal | Chan | Dev | Gan | Har | Jag | Kri | Lax | Mad | Nar | Ram | Raj | San | Shan | Sur | Vij
 | Vish
end = esh | it | ita | av | ika | endra | ini | raj
surname = Sharma | Patel | Singh | Reddy | Iyer | Gupta | Nehru | Gandhi | Delhiwala | {Start}{surend} ^5
surend = an | appa | kar | war | jee | swamy | oor | hani
city = Delhi | New Delhi ^2 | Mumbai ^2 | Bengaluru | Bangalore | Chennai | Kolkata | Hyderabad | Navi Mumbai
 | {Start}{cityend} ^8 | {Start}a {cityend2}
cityend = pur ^3 | nagar | abad | garh | puram | kot | patnam
cityend2 = Nagar | Vihar | Pur
state = Maharashtra | Karnataka | Tamil Nadu | Delhi ^2 | Kerala | Uttar Pradesh | West Bengal | Gujarat | T.N.
 | U.P. | MH | KA
pin = {p}{d}{d}{d}{d}{d} ^4 | {p}{d}{d} {d}{d}{d} ^2
street = {roadname} {kind} ^5 | {nth} Cross , {Start}a Nagar | {nth} Main , {roadname} Layout | {kind} No. {number}
 | M.G. Road ^2 | {roadname} Nagar ^2 | {roadname} Marg ^2 | Sector {number} | {roadname} Colony , {city} Road
 | Opp. {city} Bank , {roadname} {kind}
roadname = {given} {surname} | {surname} | {city} | Mahatma Gandhi | Nehru | Station | Temple | Church
 | Lal Bahadur | {Start}{cityend}
kind = Road ^5 | Rd ^2 | Rd. | Street ^3 | St | Marg ^2 | Lane | Gali
nth = 1st | 2nd | 3rd | {p}th
house = {number} ^4 | {number}/{number} ^2 | No. {number} ^2 | {L}-{number} ^2
door = No. {number} | H.No. {number}-{number}/{p} ^2 | Door No. {number} | Plot No. {number} ^2 | #{number}
 | {number}/{L} | House No. {number} | Old No. {number}
unit = Flat No. {number} ^3 | Flat {p}{d}{d} ^2 | {nth} Floor ^2 | Shop No. {p} | {L} Wing
 | {p}{d}{d} , {surname} Apartments | {surname} Towers | Block {L} | Office {p}{d}{d}
pobox = P.O. Box {box} | Post Box No. {box} ^2 | GPO Box {box}
org = {surname} & Sons | {surname} {trade} Pvt. Ltd. ^3 | {city} {trade} ^2 | State Bank of {city}
 | {surname} {trade} ^2 | Hotel {surname} | {given} {trade} | University of {city}
trade = Traders | Textiles | Software | Electronics | Sweets | Enterprises | Jewellers | Motors
country = India ^6 | INDIA | Bharat
"""

BRAZIL = """
address = NAME:person/70 , STREET:street , HOUSE:house - UNIT:unit/45 , CITY:city - REGION:uf , POSTCODE:cep
   , COUNTRY:country/30 ^4
 | ORG:org , STREET:street , HOUSE:house , CITY:city / REGION:uf , CEP POSTCODE:cep , COUNTRY:country/20 ^2
 | POSTCODE:cep , STREET:street , HOUSE:house , UNIT:unit/40 , CITY:city , REGION:state
 | STREET:street HOUSE:house UNIT:unit/40 , POSTCODE:cep/80 CITY:city REGION:uf/80
 | ORG:org/60 , POBOX:pobox , POSTCODE:cep CITY:city - REGION:uf
person = {given} {surname} ^3 | {given} {given} da {surname} ^2 | Sr. {given} {surname} | Sra. {surname}
 | {given} de {surname} {surname} | Dr. {given} {surname}
given = João | Maria | Pedro | Ana | Getúlio | Vitória | Salvador | Aurora | {Start}{end} ^2
Start = Al | Bel | Cam | Cor | Fer | Gua | Ita | Jac | Lin | Mar | Nat | Par | Pira | Ser | Tau | Uba | Val
end = inho | ana | ilson | inda | aldo | eu
surname = Silva | Santos | Oliveira | Campos | Salvador | Vargas | Bahia | Brasil | Costa | {Start}{surend} ^6
surend = eira | inho | edo | ães | oso | ita | ado
city = São Paulo ^2 | Rio de Janeiro ^2 | Salvador | Brasília | Belo Horizonte | Campos | Vitória | São {given} ^2
 | São {given} do {Rio} ^2 | {Start}{cityend} ^7 | Santa {given} | Nova {Start}{cityend}
cityend = polis | lândia | tuba | guaçu | ópolis | cema | inas | quara
Rio = Rio Preto | Sul | Norte | Campo | Oeste
uf = SP ^4 | RJ ^3 | MG ^2 | BA | RS | PR | PE | DF | SC
state = São Paulo ^2 | Rio de Janeiro | Bahia | Minas Gerais | Paraná | Rio Grande do Sul | SP | RJ
cep = {d}{d}{d}{d}{d}-{d}{d}{d} ^4 | {d}{d}{d}{d}{d}{d}{d}{d} | {d}{d}.{d}{d}{d}-{d}{d}{d}
street = {kind} {of} {thing} ^4 | {kind} {given} {surname} ^4 | {kind} {surname} | {kind} {city} ^2
 | {kind} {state} | {kind} Presidente {surname} ^2 | {kind} {p} de {Month} | {kind} Dr. {given} {surname}
of = da | do | das | dos
thing = Consolação | Flores | Comércio | Independência | Praia | Palmeiras | {Start}{cityend} | Liberdade
Month = Março | Julho | Setembro | Novembro
kind = Rua ^5 | R. ^4 | Av. ^4 | Avenida ^2 | Praça | Pça. | Alameda | Al. | Travessa | Rodovia | Estrada
house = {number} ^6 | {p}{d}{d}{d} ^2 | nº {number} ^2 | n. {number} | s/n | {number}-{L}
unit = Apto {number} ^2 | Ap. {p}{d}{d} ^2 | apto. {p}{d} | Bloco {L} ^2 | Sala {p}{d}{d} | {p}º andar ^2
 | Casa {p} | Conjunto {p}{d} | Fundos
pobox = Caixa Postal {box} ^3 | CP {box} | Cx. Postal {box}
org = {trade} {surname} Ltda. ^3 | {surname} & Filhos Ltda | Prefeitura de {city} | Banco {city} S.A. ^2
 | Padaria {given} | {trade} {city} ^2 | Universidade de {city} | Hotel {surname} | {Start}{techend} S/A
trade = Auto Peças | Farmácia | Livraria | Construtora | Transportes | Clínica | Restaurante
techend = bras | tec | sul | max
country = Brasil ^5 | Brazil ^3 | BRASIL
"""

NETHERLANDS = """
address = NAME:person/70 , STREET:street HOUSE:house UNIT:unit/15 , POSTCODE:code CITY:city , COUNTRY:country/30 ^5
 | ORG:org , STREET:street HOUSE:house , POSTCODE:code CITY:city , COUNTRY:country/30 ^2
 | ORG:org/70 , t.a.v. NAME:person , POBOX:pobox , POSTCODE:code CITY:city
 | STREET:street HOUSE:house , POSTCODE:code/70 CITY:city
person = {given} {surname} ^2 | {given} {van} {surname} ^3 | {L}.{L}. {van} {surname} ^2 | Dhr. {L}. {surname}
 | Mevr. {surname} | Fam. {van} {surname}
van = van | van de | van der | de | van den | ter
given = Jan | Sanne | Willem | Maaike | Joost | Emma | Rembrandt | Juliana | {Start}{end} ^2
Start = Aal | Boe | Brui | Dij | Eind | Groen | Haar | Hoog | Klein | Lein | Meer | Noord | Oos | Rijs | Schie
 | Veen | Wage | Zand | Zuid
end = tje | ke | ert | ien | ine | bert
surname = Berg | Vries | Dijk | Jansen | Bakker | Leiden | Delft | Haarlem | Rembrandt | {Start}{surend} ^6
surend = ma | stra | huis | man | horst | veld | mans
city = Amsterdam ^2 | Den Haag | 's-Gravenhage | Utrecht | Delft | Leiden | Haarlem | {Start}{cityend} ^8
 | {Start}{cityend} aan Zee | Sint {given} | Bergen op {Start}
cityend = dam | recht | hoven | wijk | burg | dijk | veen | meer | drecht
code = {p}{d}{d}{d} {L}{L} ^4 | {p}{d}{d}{d}{L}{L} ^2 | NL-{p}{d}{d}{d} {L}{L}
street = {stem}{straat} ^7 | {stem}{straat} {Noord} | {given} {surname}straat ^2 | {city}se{straat} ^2
 | Prins {given}laan | Van {surname}straat | Burg. {surname}{straat} | 1e {stem}straat | Plein {p}{d}{d}{d}
 | Oude {surname}weg
Noord = Noord | Zuid | West | Oost
stem = {Start} ^3 | Kerk ^2 | Dorps | Molen | Stations | Beatrix | {surname} ^2 | Linden | Rembrandt
straat = straat ^5 | str. ^2 | laan ^3 | weg ^3 | plein | gracht ^2 | kade | singel | hof | dijk
house = {number} ^6 | {number}{L} | {number}-{number} | {number} {low} | {number} bis
low = a | b | hs | II | III
unit = {p} hoog | kamer {p}{d} | app. {p} | unit {L}
pobox = Postbus {box} ^4 | Antwoordnummer {box}
org = {surname} B.V. ^3 | {trade} {surname} ^2 | {trade} {van} {surname} | Gemeente {city} ^2
 | {city}se {trade} B.V. | Universiteit {city} | Café {city} | {surname} & {surname} N.V. | Stichting {stem}hof
trade = Bakkerij | Garage | Advocaten | Bouwbedrijf | Apotheek | Makelaardij
country = Nederland ^3 | The Netherlands ^2 | Netherlands | Holland | NL
"""

COUNTRIES = {
    "us": UNITED_STATES,
    "gb": UNITED_KINGDOM,
    "de": GERMANY,
    "fr": FRANCE,
    "es": SPAIN,
    "in": INDIA,
    "br": BRAZIL,
    "nl": NETHERLANDS,
}
"""ISO 3166 code of the country to its grammar."""
