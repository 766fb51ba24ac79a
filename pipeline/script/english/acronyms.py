"""Which words in capitals are letters said one by one, and which are words.

No dictionary decides: chunk keys follow from what is said, so it must not change with a word list.
"""

from __future__ import annotations

AS_WORDS = frozenset(
    """
    AIDS ANZAC ASCII ASEAN AWOL BASIC BIOS CHEKA COBOL COMINTERN COVID DARPA DOS EFTA FEMA FIAT FIFA FORTRAN GATT
    GESTAPO GIF GULAG HAMAS IKEA INTERPOL ISIS JPEG LAN LASER LORAN MASH MENSA MERS MOMA NAAFI NAFTA NASA NATO NIMBY
    NORAD OK OPEC OSHA PETA PIN QANTAS RADAR RAM RICO ROM SAAB SALT SARS SCUBA SEATO SETI SHAEF SIM SONAR SOWETO START
    SWAT TARDIS TASER UEFA UNESCO UNHCR UNICEF WAN WASP YOLO
    """.split()
)
"""Said as words, and written in capitals all the same."""

AS_LETTERS = frozenset(
    """
    AA AARP ABC AC ACLU AD ADHD AFL AI AK AKA ANC AOL APB API ASAP ATF ATM BA BBC BBQ BC BCE BMW BMX BP BST BYOB CB
    CBS CCTV CD CDS CE CEO CFC CFO CIA CID CIO CNN COO CPA CPR CPU CSS CST CTO DA DC DCI DDR DDT DEA DHS DIY DJ DMV
    DNA DOA DOD DOJ DUI DVD DWI ECG EDT EFL EKG EMT EPA ESL ESPN EST ETA ETD EU FAA FBI FCC FDA FDIC FDR FM FRG FYI
    GCSE GDR GE GED GMT GOP GP GPS GPU GRU HBO HIV HMS HP HQ HR HTML HTTP HTTPS IBM ICU ID IDS IMF IMO IOU IP IPO IQ
    IRA IRS ISBN ISP ISSN ITV IV IVF JFK JP KC KGB KIA KKK KO LA LAPD LBJ LCD LED LLC LOL LP LSD LSE MBA MDMA MI MIA
    MIT MLB MP MPS MRI MSN MVP NAACP NBA NBC NCAA NFL NHL NHS NKVD NRA NSA NYC NYPD NYU OAP OCD OMG OS OSS PC PCP PCS
    PDF PDT PHD PLO PM PO POW PST PTA PTSD PVC QC RAAF RAF RIP RN RNA RPG RSVP SAS SEC SOE SOS SQL SS STD SUV TB THC
    TLC TNT TSA TV UAE UAV UAW UCLA UFO UHF UK UN UPI UPS URL USA USAF USB USC USMC USN USS USSR UTC UTI UV VC VCR VD
    VE VHF VIP VJ VR WC WTF WTO XL XML XXL YMCA YWCA
    """.split()
)
"""Said letter by letter though they could be words or names."""

SHORT_WORDS = frozenset(
    """
    a aah abe ace act ad ada add ado ads age ago ah aha aid ail aim air al ale all am amy an and ann ant any ape apt
    arc are ark arm art as ash ask asp ass at ate ava aw awe awl ax axe aye bad bag ban bar bat bay be bed bee beg ben
    bet bid big bin bit bo boa bob bog boo bow box boy boz bra brr bud bug bum bun bus but buy by bye cab cad cal cam
    can cap car cat caw cob cod cog con coo cop cot cow cox coy cry cub cud cue cup cur cut dab dad dam dan day deb
    den dew did die dig dim din dip do doe dog don dot dry dub dud due dug dun duo dye ear eat ebb ed eel egg ego eh
    eke elf eli elk elm em emu en end eon er era ere err eva eve ewe ex eye fad fan far fat fax fay fed fee few fey
    fib fig fin fir fit fix flu fly foe fog for fox fro fry fun fur gab gag gap gas gay gel gem get gig gin git gnu go
    god got grr gum gun gus gut guy gym ha had hag hal ham has hat hay he hem hen her hew hex hey hi hid him hip his
    hit hm hmm ho hoe hog hop hot how hrm hub hue hug huh hum hut i ian ice icy ida if ilk ill imp in ink inn ion ira
    ire irk is it its ivy jab jam jan jar jaw jay jed jet jig jim jo job joe jog jon jot joy jug jut kay keg ken key
    kid kim kin kit la lab lad lag lap law lax lay lea led lee leg len leo les let lew lid lie lip lit liz lo lob log
    lop lot lou low luc lug ma mac mad man map mar mat maw max may me meg mel men met mhm mia mid mix mm mmm mo mob
    mod mop mow mr mud mug mum my nab nag nan nap nat nay ned nel net new nib nil nip nit no nod nor not now nth nub
    nun nut o oak oar oat odd ode of off oft oh oil old on one ooh op opt or orb ore our out ova ow owe owl own ox pa
    pad pal pam pan par pat paw pay pea peg pen pep per pet pew pfft pi pie pig pin pip pit ply pod poe poi pop pot
    pox pro pry psst pst pub pug pun pup pus put rae rag ram ran rap rat raw ray re red rex rib rid rig rim rip rob
    rod roe ron rot row roy rub rue rug rum run rut rye sac sad sag sal sam sap sat saw sax say sea see set sew sex sh
    she shh shy si sid sin sip sir sis sit six ski sky sly so sob sod son sop sow soy spa spy ssh st sty sub sue sum
    sun tab tad tag tan tap tar tax tea ted ten the thy tic tie tim tin tip to toe tom ton too top tot tow toy try tsk
    tub tug tun two ty ugh uh um una up urn us use val van vat vet vex vi via vic vie viv vow wad wag wan war was wax
    way we web wed wee wes wet who why wig win wit woe wok won woo wow ya yak yam yap yaw ye yea yen yes yet yew yo
    yon you zap zed zip zoe zoo zzz
    """.split()
)
"""Short words, names and sounds that aren't letters, in capitals or not. Longer ones are words unless listed above."""
