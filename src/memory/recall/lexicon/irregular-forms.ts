// English words whose forms no suffix rule brings together, as `base form form …`. Data, written by hand.

const lines = `
be am is are was were been being
have has had having
do does did done doing
go goes went gone going
say said
get got gotten
make made
know knew known
think thought
take took taken taking
see saw seen
come came coming
find found
give gave given giving
tell told
become became becoming
leave left leaving
feel felt
bring brought
begin began begun beginning
keep kept
hold held
write wrote written writing
stand stood
hear heard
mean meant
meet met meeting
run ran running
pay paid
sit sat sitting
speak spoke spoken
lead led
grow grew grown
lose lost losing
fall fell fallen
send sent
build built
understand understood
draw drew drawn
break broke broken
spend spent
drive drove driven driving
buy bought
wear wore worn
choose chose chosen choosing
seek sought
throw threw thrown
catch caught
deal dealt
win won winning
forget forgot forgotten
sleep slept
sell sold
teach taught
fight fought
eat ate eaten
drink drank drunk
sing sang sung
swim swam swum swimming
ride rode ridden riding
fly flew flown flies
rise rose risen rising
shake shook shaken
steal stole stolen
freeze froze frozen
hide hid hidden hiding
bite bit bitten
blow blew blown
lend lent
lie lay lain lying
sweep swept
weep wept
shoot shot
stick stuck
strike struck
swear swore sworn
tear tore torn
wake woke woken waking
bend bent
bleed bled
breed bred
dig dug digging
feed fed
hang hung
hurt hurting
light lit
ring rang rung
shine shone
sink sank sunk
spin spun
dream dreamt
learn learnt
burn burnt
spell spelt
child children
man men
woman women
person people
foot feet
tooth teeth
mouse mice
goose geese
knife knives
wife wives
life lives
leaf leaves
half halves
wolf wolves
shelf shelves
loaf loaves
thief thieves
good better best
bad worse worst
index indices indexes
matrix matrices
datum data
medium media
criterion criteria
analysis analyses
mum mom mommy mummy mother
dad daddy father
`

export const irregularForms: ReadonlyMap<string, string> = new Map(
  lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [base, ...forms] = line.split(' ')
      return forms.map((form) => [form, base!] as const)
    }),
)
