// The programs of jq that only turn their input into output (PM34). Every name in one must be known: what shows the
// environment, reads further files or is new is not.

const names = new Set(
  (
    'if then elif else end and or not as reduce foreach try catch label break empty error true false null length ' +
    'utf8bytelength keys keys_unsorted has in map map_values path paths leaf_paths del delpaths getpath setpath ' +
    'to_entries from_entries with_entries select add any all flatten range floor ceil round sqrt pow log exp ' +
    'log10 log2 exp10 exp2 fabs abs tostring tonumber toboolean type infinite nan isinfinite isnan isnormal ' +
    'isvalid sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith ' +
    'endswith ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode split splits join ascii ascii_downcase ' +
    'ascii_upcase while repeat until recurse recurse_down transpose bsearch tojson fromjson todate fromdate now ' +
    'dateadd datesub date strptime strftime strflocaltime mktime gmtime localtime todateiso8601 fromdateiso8601 ' +
    'dateiso8601 test match capture scan sub gsub arrays objects iterables booleans numbers normals finites ' +
    'strings nulls values scalars first last nth limit skip input inputs debug input_line_number walk ' +
    'combinations index indices rindex pick have_literal_numbers halt isempty significand trunc toarray tostream ' +
    'fromstream truncate_stream'
  ).split(' '),
)

const token =
  /\s+|"|@[a-z0-9]+|\$[A-Za-z_]\w*|\.[A-Za-z_]\w*|[A-Za-z_]\w*(?:::\w+)*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\/\/=|\?\/\/|\/\/|\|=|[-+*/%]=|==|!=|<=|>=|\.\.|[-.[\](){}|,:;?<>=+*/%]/y

/** What ends what was opened. Within a condition a comma parts values, also where that stands in an object. */
const endings: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}', if: 'end' }
const closings = new Set(Object.values(endings))

/** Texts within texts. */
const deepest = 8

/** Why a program is not known to be read-only, or null. */
export function jqRefusal(program: string): string | null {
  const end = scan(program, 0, 0)
  return typeof end === 'number' ? null : end
}

/** Reads up to the end, or to the bracket that ends an interpolation; a text says why not. */
function scan(program: string, from: number, depth: number): number | string {
  const isInside = depth > 0
  if (depth > deepest) return 'the strings of the jq program are nested too deeply'
  const open: string[] = []
  let before = ''
  let at = from
  while (at < program.length) {
    token.lastIndex = at
    const [found] = token.exec(program) ?? []
    if (found === undefined) return `the jq program contains ${program[at]}, which cannot be checked`
    at += found.length
    if (/^\s/.test(found)) continue
    const isName = /^[A-Za-z_]/.test(found)
    const isKey = isName && open.at(-1) === '}' && (before === '{' || before === ',')
    if (found === '"') {
      const end = text(program, at, depth)
      if (typeof end === 'string') return end
      at = end
    } else if (Object.hasOwn(endings, found) && !isKey) open.push(endings[found]!)
    else if (closings.has(found) && !isKey) {
      if (open.length === 0 && isInside && found === ')') return at
      if (open.pop() !== found) return 'the parentheses of the jq program are not balanced'
    } else if (isName) {
      if (!isKey && !names.has(found)) return `${found} in the jq program may show more than its input`
    } else if (found === '$ENV' || found.startsWith('$__')) return `${found} shows the environment`
    before = found
  }
  return isInside ? 'a string in the jq program does not end' : at
}

/** From behind the quote to behind the one that ends the text. */
function text(program: string, from: number, depth: number): number | string {
  for (let at = from; at < program.length; at++) {
    if (program[at] === '"') return at + 1
    if (program[at] !== '\\') continue
    if (program[at + 1] !== '(') at++
    else {
      const end = scan(program, at + 2, depth + 1)
      if (typeof end === 'string') return end
      at = end - 1
    }
  }
  return 'a string in the jq program does not end'
}
