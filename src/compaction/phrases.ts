// What to look for in texts of any language: sentences, the words that announce a decision, a rule or something open,
// and the names that later work is likely to look for. Patterns only; nothing here decides.
import { defaults } from '../settings/defaults.ts'

const uneven = /[^\S ]| {2}/

/** A text with one blank for all white space between words. Most have nothing else, and are not copied. */
export const flat = (text: string): string => (uneven.test(text) ? text.replaceAll(/\s+/g, ' ') : text)

/** Sentences and lines. Where a script writes no blank after its full stop, the stop alone ends a sentence. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => flat(sentence).trim())
    .filter((sentence) => sentence.length > 1 && !/^[`#*_=\-|\s]+$/.test(sentence))
}

const any = (...words: readonly string[]): RegExp => new RegExp(words.join('|'), 'iu')
const word = (...words: readonly string[]): string =>
  `(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`

/** Words that mark a decision, a reason or an outcome. */
export const decisionWord = any(
  word(
    'decid(?:e|ed|ing)',
    'decision',
    'cho(?:se|ose|sen)',
    'instead of',
    'rather than',
    'because',
    'root cause',
    'turns? out',
    'going with',
    'switch(?:ed|ing)? to',
    'will use',
    'the (?:fix|reason|cause|problem) (?:is|was)',
    'confirmed',
    'fixed',
    'implemented',
  ),
  word('entschieden', 'entscheidung', 'weil', 'stattdessen', 'ursache'),
  word('décid[ée]+', 'parce que', 'au lieu', 'decidi[dr]?[oa]?', 'porque', 'en lugar', 'invece di'),
  word('решил[иа]?', 'потому что', 'вместо'),
  '决定|決定|选择|選択|改用|采用|採用|因为|因為|原因|改为|決め|理由|修正し|结论|結論|결정|때문|대신|원인',
)

/** Words that mark a rule somebody gave. */
export const ruleWord = any(
  word('must', 'never', 'always', "don['’]?t", 'do not', 'only', 'avoid', 'without', 'required', 'make sure'),
  word(
    'nicht',
    'niemals',
    'immer',
    'nur',
    'muss',
    'jamais',
    'toujours',
    'ne pas',
    'nunca',
    'siempre',
    'solo',
  ),
  word('никогда', 'всегда', 'только', 'нельзя'),
  '必须|必須|不要|不得|禁止|务必|只能|別|必ず|しないで|だけ|반드시|하지 ?마|금지|항상',
)

/** Words that announce what comes next. */
export const nextWord = any(
  word('next', 'remaining', 'still (?:to do|open|missing)', 'left to do', 'todo', 'to do', 'pending'),
  word('als nächstes', 'noch offen', 'ensuite', 'reste à', 'próximo', 'pendiente', 'дальше', 'осталось'),
  '下一步|接下来|接下來|待办|剩下|次に|残り|未完了|다음|남은',
)

export const isQuestion = (sentence: string): boolean => /[?？؟]["'”’)\]]*$/u.test(sentence)

/** Lines in which a tool or a program says that something went wrong. Without the flag `u`, with which it takes five times as long. */
export const errorLine =
  /(?:error|exception)\b|\b(?:fail(?:ed|ure)?|fatal|panic|traceback|denied|not found|cannot|refused)\b|エラー|失败|失敗|错误|錯誤|오류|실패/i

/** The line of a text that tells what went wrong, or the first that says anything. */
export function errorOf(text: string): string {
  const error = text.search(errorLine)
  const at = Math.max(0, error < 0 ? text.search(/\S/) : error)
  const end = text.indexOf('\n', at)
  return lineOf(text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end))
}

export const pathWord = /(?<![\w.@~/-])(?:[\w.@~-]*\/)+[\w.@-]*\w|\b[\w-]+\.(?:[a-z]{1,4})\b(?![\w(])/g
export const nameWord =
  /`([^`\s]{3,80})`|\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[A-Za-z]\w*_\w+|[A-Z]{2,}(?:-[A-Z0-9]+)+)\b/g
export const numberWord = /(?<![\w.])\d+(?:\.\d+)+(?![\w.])|(?<![\w.])\d{3,}(?:%|\b)/g

/** Both ends of a long text: what matters mostly stands there, and reading a long span must stay quick. */
export function endsOf(text: string, chars: number = defaults.compaction.scanChars): string {
  return text.length <= 2 * chars ? text : `${text.slice(0, chars)}\n${text.slice(-chars)}`
}

/** One line of at most so many characters, whole characters only. */
export function lineOf(text: string, chars: number = defaults.compaction.lineChars): string {
  const line = flat(text).trim()
  return (line.length <= chars ? line : `${line.slice(0, chars - 1)}…`).toWellFormed()
}

const nameRun = /[A-Za-z0-9_@~./-]{3,}/g
const nameEdges = /^[./-]+|[./-]+$/g
const hasEdge = /^[./-]|[./-]$/
/** Identifiers, file names, numbers of three digits and more; a plain word is none. */
const nameLike = /[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\d|\d[A-Za-z]|\.[A-Za-z][A-Za-z0-9]{0,5}$|\d{3,}/
const leastName = 3

/** The exact things that work goes by and that cannot be guessed again: paths, file names, identifiers, numbers. */
export function* namesIn(text: string): Generator<string> {
  for (const [run] of text.matchAll(nameRun)) {
    const word = hasEdge.test(run) ? run.replaceAll(nameEdges, '') : run
    const last = word.slice(word.lastIndexOf('/') + 1)
    if (last.length < word.length && word.length >= leastName) yield word
    if (last.length < leastName || !nameLike.test(last)) continue
    yield last
    if (!last.includes('.')) continue
    for (const piece of last.split('.')) if (piece.length >= leastName && nameLike.test(piece)) yield piece
  }
}

/** The words that instructions for a compaction ask to keep in sight. */
export const focusOf = (instructions: string | undefined): readonly string[] =>
  (instructions ?? '').toLowerCase().match(/[\p{L}\p{N}_./-]{3,}/gu) ?? []
