// Owns the English stem of a word: forms of one word meet under one name. The suffix rules follow the second Porter
// algorithm (what may go is decided by the part of the word behind its first syllables); irregular forms come first,
// since no suffix tells that "went" is a form of "go". Pure.

const shortestStemmed = 3

export function stem(word: string): string {
  if (word.length < shortestStemmed || !/^[a-z']+$/u.test(word)) return word
  const base = irregularForms.get(word) ?? word
  const marked = base.replace(/^y|(?<=[aeiouy])y/gu, 'Y')
  const steps = [plural, pastAndGerund, finalY, doubleSuffix, suffix, bareSuffix, finalE]
  return steps.reduce((form, step) => step(form), marked).toLowerCase()
}

/** Where the part begins that lies behind the first consonant after a vowel; the length when there is none. */
function regionAfter(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/u.exec(word.slice(from))
  return found === null ? word.length : from + found.index + 2
}

function firstRegion(word: string): number {
  const fixed = /^(?:gener|commun|arsen)/u.exec(word)
  return fixed === null ? regionAfter(word, 0) : fixed[0].length
}
const secondRegion = (word: string): number => regionAfter(word, firstRegion(word))

const hasVowel = (part: string): boolean => /[aeiouy]/u.test(part)
const endsShort = (part: string): boolean =>
  /[^aeiouy][aeiouy][^aeiouywxY]$/u.test(part) || /^[aeiouy][^aeiouy]$/u.test(part)
const isShort = (part: string): boolean => firstRegion(part) >= part.length && endsShort(part)

function plural(word: string): string {
  const bare = word.replace(/'s?'?$/u, '')
  if (bare.endsWith('sses')) return bare.slice(0, -2)
  if (/ie[ds]$/u.test(bare)) return bare.length > 4 ? bare.slice(0, -2) : bare.slice(0, -1)
  if (/(?:us|ss)$/u.test(bare)) return bare
  return bare.endsWith('s') && hasVowel(bare.slice(0, -2)) ? bare.slice(0, -1) : bare
}

function pastAndGerund(word: string): string {
  const agreed = /eed(?:ly)?$/u.exec(word)
  if (agreed !== null) return agreed.index >= firstRegion(word) ? `${word.slice(0, agreed.index)}ee` : word
  const ending = /(?:ed|ing)(?:ly)?$/u.exec(word)
  if (ending === null || !hasVowel(word.slice(0, ending.index))) return word
  const rest = word.slice(0, ending.index)
  if (/(?:at|bl|iz)$/u.test(rest)) return `${rest}e`
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/u.test(rest)) return rest.slice(0, -1)
  return isShort(rest) ? `${rest}e` : rest
}

const finalY = (word: string): string => (/.[^aeiouy][yY]$/u.test(word) ? `${word.slice(0, -1)}i` : word)

const doubles: readonly (readonly [ending: string, becomes: string])[] = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['tional', 'tion'],
  ['lessli', 'less'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['fulli', 'ful'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
  ['ogi', 'og'],
]
const doubleSuffix = (word: string): string => {
  const region = firstRegion(word)
  for (const [ending, becomes] of doubles) {
    if (!word.endsWith(ending)) continue
    return word.length - ending.length >= region ? word.slice(0, -ending.length) + becomes : word
  }
  if (word.endsWith('ili') && word.length - 3 >= region) return word.slice(0, -2)
  return /[cdeghkmnrt]li$/u.test(word) && word.length - 2 >= region ? word.slice(0, -2) : word
}

const singles: readonly (readonly [ending: string, becomes: string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
]
const suffix = (word: string): string => {
  const found = singles.find(([ending]) => word.endsWith(ending))
  if (found === undefined || word.length - found[0].length < firstRegion(word)) return word
  return word.slice(0, -found[0].length) + found[1]
}

const bare = /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|(?<=[st])ion)$/u
const bareSuffix = (word: string): string => {
  const found = bare.exec(word)
  return found !== null && found.index >= secondRegion(word) ? word.slice(0, found.index) : word
}

function finalE(word: string): string {
  const rest = word.slice(0, -1)
  if (word.endsWith('e')) {
    if (rest.length >= secondRegion(word)) return rest
    return rest.length >= firstRegion(word) && !endsShort(rest) ? rest : word
  }
  return word.endsWith('ll') && rest.length >= secondRegion(word) ? rest : word
}

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
