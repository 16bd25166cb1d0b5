// What a value looks like: noise, something a person chose, code, a path or a placeholder. Each test is linear in a value
// of bounded length.

const count = (value: string, what: RegExp): number => value.match(what)?.length ?? 0
const digitsIn = (value: string): number => count(value, /[0-9]/g)

/** Pairs of letters that words are made of, English ones and those of identifiers. */
const pairs = new Set(
  (
    'th he in er an re nd on en at ou ed ha to or it is hi es ng st te al se ar ti ve le me as ll nt ne ro ra io ic co om de ri ' +
    'li la ta el ce ma si di us ur ec ca tr ss et ee ch na ac ea ct so un po pr sh em lo ot mo ad ag id ge ex ke ey ok pa ' +
    'wo rd be ol ut ai ir im sp ho op do ns no ul oc su pe fi il ge oo ow ty ig gh ht ay am bl bo tt cl ap ck ue fo wi ' +
    'iv rt ty pl mi up ry tu rs ld ev og ef fe by my ab au av ep ip mp ub um if os ob od sa sc sk sw wa we wh ye cr dr gr br fr'
  ).split(' '),
)

/** The share of neighbouring letters that stand together in words; where a new hump begins nothing is counted. */
function wordShare(value: string): number {
  let [all, known] = [0, 0]
  for (let at = 1; at < value.length; at++) {
    const pair = value.slice(at - 1, at + 1)
    if (!/^[A-Za-z]{2}$/.test(pair) || /^[a-z][A-Z]$/.test(pair)) continue
    all++
    if (pairs.has(pair.toLowerCase())) known++
  }
  return all === 0 ? 0 : known / all
}

/** Capitals where no name has them: they leave many pieces of one or two letters, or of capitals alone. */
function isOddlyCased(value: string): boolean {
  const pieces = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  const short = pieces.filter(
    (piece) => (piece.length <= 2 && !shortWords.has(piece.toLowerCase())) || /^[A-Z]{3,}$/.test(piece),
  ).length
  return /[a-z]/.test(value) && short >= 2 && short >= pieces.length * oddShare
}
const oddShare = 0.3
const shortWords = new Set(
  'a as at by db do go id if in io ip is it js my no of ok on or os to ts ui up we x y'.split(' '),
)

const leastNoise = 10
const wordsFrom = 0.68
const foreignFrom = 0.4

/** Letters that make no words; a single word may be of another language. */
export const looksNoisy = (value: string): boolean =>
  count(value, /[A-Za-z]/g) >= leastNoise &&
  !/[^\0-\u007F]/.test(value) &&
  (wordShare(value) < (/^[A-Z]?[a-z]+$/.test(value) ? foreignFrom : wordsFrom) || isOddlyCased(value))

/** Noise has several digits among its letters, or makes no words; names and sentences have neither. */
export const looksRandom = (value: string): boolean =>
  (digitsIn(value) >= 3 && /[A-Za-z]/.test(value)) || looksNoisy(value)

/** What people choose: letters with something else among them, or no words at all. */
export const looksChosen = (value: string): boolean =>
  (/[0-9!@#%^&*+=~?]/.test(value) && /[A-Za-z]/.test(value)) || looksNoisy(value)

export const looksMixed = (value: string): boolean =>
  (/[0-9]/.test(value) && /[A-Za-z]/.test(value)) || looksNoisy(value)

/** A quoted phrase with blanks in it: a password has a word that is none; a sentence has not. */
export const looksLikePhrase = (value: string): boolean =>
  value.length <= 80 &&
  value
    .split(/\s+/)
    .some((one) => /[0-9]/.test(one) && /[A-Za-z]/.test(one) && !/^[0-9]+[a-z]{1,2}$/.test(one))

/** An expression, a name of the program, an address or a path. */
export const isCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:[.:?!]{1,2}[A-Za-z_$][\w$]*)+$/.test(value) ||
  (/^[A-Za-z_]+[0-9]?$/.test(value) && !looksNoisy(value)) ||
  /^https?:/.test(value) ||
  isPath(value)

/** Also noise can begin with a slash: a path has words, an ending or a root that everybody knows. */
export function isPath(value: string): boolean {
  if (!/^(?:\.{0,2}|~|[A-Za-z]:)[/\\]/.test(value)) return false
  if (/^(?:\.{1,2}|~|[A-Za-z]:)[/\\]/.test(value)) return true
  return (
    /^\/(?:etc|run|var|home|usr|tmp|opt|mnt|root|srv|dev|proc|Users|secrets?|app|data|v[0-9]|api)\//.test(
      value,
    ) ||
    /^(?:\/[\w@-]+)+\.[a-z]{2,5}$/.test(value) ||
    !looksRandom(value)
  )
}

export const isPlaceholder = (value: string): boolean =>
  /^(?:\$|%|\{\{|<|\[|\*{3}|x{4,}(?![a-z])|\.{3}|process\.|os\.|env[.[(]|secrets?\.)/i.test(value) ||
  (/^(?:your|my[_-]|example|change|placeholder|dummy|fake|mock|test|sample|redacted)/i.test(value) &&
    !looksNoisy(value)) ||
  /^(.)\1*$|(?:\.\.\.|…)$/.test(value)

/** What stands in every compose file, and is no secret. */
export const isDefault = (value: string): boolean =>
  /^(?:postgres|postgresql|password|passw0rd|passwd|secret|root|admin|administrator|mysql|mariadb|mongo|redis|rabbitmq|guest|user|username|none|null|undefined|true|false|string|required|optional|empty|unset|default|development|production|local|localhost|minio|minioadmin|elastic|docker|django|rails|ubuntu|vagrant|foobar|prompt|stdin|file|value|token|key)$/i.test(
    value,
  )
