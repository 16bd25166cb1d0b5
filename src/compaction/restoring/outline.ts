// The outline of a file: its declarations, by their look alone. It knows no language; a line counts when it begins like
// a declaration somewhere and is not deep inside a body. Better a line too many than a name that cannot be found again.
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'

/** Words that open a declaration, with what may stand before them. */
const opening =
  /^(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|extern|inline|virtual|override|sealed|partial|open|data)\s+)*(?:function|func|fn|def|fun|sub|class|interface|type|enum|struct|trait|impl|protocol|extension|module|mod|namespace|package|object|record|union|typedef|message|service|rpc|const|let|var|val|macro_rules!|#define|template|create\s+(?:table|view|index|function)|resource|variable)\b/i
/** `name(…) {` and `Type name(…) {`: methods and functions without a word before them. */
const method =
  /^(?!(?:if|for|while|switch|catch|return|else|do|with|match|foreach|using|lock)\b)[\w$<>[\],.:*&~\s]*?[\w$]+\s*\([^;]*\)[^;=]*\{\s*$/
const heading = /^#{1,4}\s+\S/
/** `key:` at the margin, as in YAML. */
const key = /^[\w.-]+:\s*(?:$|[|>&{[])/
const decoration = /^(?:import|using|include|require|from|use)\b/
/** Deeper than this is the inside of something that has been named. */
const deepest = 4

/** Lines as Read shows them, with their numbers; null where nothing in it looks like a declaration. */
export function outlineOf(shown: string, tokens: number): string | null {
  const lines: string[] = []
  let left = tokens
  let more = 0
  for (const line of shown.split('\n')) {
    const [, number = '', text = line] = /^\s*(\d+)\t(.*)$/.exec(line) ?? []
    if (!declares(text)) continue
    const told = `${number === '' ? '' : `${number}: `}${shortened(text.trim())}`
    left -= estimateText(told) + 1
    if (left < 0) more++
    else lines.push(told)
  }
  if (lines.length === 0) return null
  return more === 0 ? lines.join('\n') : `${lines.join('\n')}\n[${more} more]`
}

function declares(line: string): boolean {
  const text = line.trimStart()
  const depth = line.length - text.length
  if (text === '' || depth > deepest || decoration.test(text)) return false
  if (depth === 0 && (heading.test(text) || key.test(text))) return true
  // A local variable is no declaration of the file.
  if (depth > 0 && /^(?:const|let|var|val)\b/.test(text)) return false
  return opening.test(text) || method.test(text)
}

function shortened(text: string): string {
  const most = defaults.restoration.outlineLineChars
  const bare = text.replace(/\s*\{\s*$/, '')
  return bare.length <= most ? bare : `${bare.slice(0, most)}…`.toWellFormed()
}
