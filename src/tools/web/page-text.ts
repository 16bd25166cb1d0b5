// The text of an HTML page: headings, paragraphs, lists, links and code as plain text. One pass, no tree: what a browser
// would not show is left out, and tags that do not fit together do no harm.

/** Elements whose content is not text of the page. */
const unseen = new Set([
  'title',
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'head',
  'iframe',
  'object',
])
const blocks = new Set([
  'p',
  'div',
  'section',
  'article',
  'main',
  'header',
  'footer',
  'nav',
  'aside',
  'ul',
  'ol',
  'table',
  'tr',
  'blockquote',
  'pre',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'li',
  'dt',
  'dd',
  'figure',
  'hr',
  'br',
  'body',
  'html',
  'details',
  'summary',
])
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  reg: '®',
  trade: '™',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  euro: '€',
  rarr: '→',
  larr: '←',
}

interface Tag {
  readonly name: string
  readonly closing: boolean
  readonly text: string
  /** Where the page goes on behind it. */
  readonly end: number
}

export function pageText(html: string): string {
  const out: string[] = []
  const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html.slice(0, 200_000))?.[1]
  const neverClosed = new Set<string>()
  let [at, pre, link] = [0, 0, '']
  const say = (raw: string) => {
    const text = plain(raw)
    if (text !== '') out.push(pre > 0 ? text : text.replace(/[\s\u00A0]+/g, ' '))
  }
  while (at < html.length) {
    const next = html.indexOf('<', at)
    say(html.slice(at, next < 0 ? html.length : next))
    if (next < 0) break
    const tag = tagAt(html, next)
    if (tag === null) {
      say('<')
      at = next + 1
      continue
    }
    at = tag.end
    if (unseen.has(tag.name) && !tag.closing) at = behindElement(html, tag, neverClosed)
    else if (tag.name === 'a') {
      if (!tag.closing) link = hrefOf(tag.text)
      else if (/^https?:/.test(link)) {
        out.push(` (${link})`)
        link = ''
      }
    } else if (blocks.has(tag.name)) out.push(markOf(tag))
    if (tag.name === 'pre') pre = Math.max(0, pre + (tag.closing ? -1 : 1))
  }
  const lines = out
    .join('')
    .split('\n')
    .map((line) => line.trimEnd().replace(/^ (?=\S)/, ''))
  const body = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return title === undefined ? body : `${plain(title).trim()}\n\n${body}`
}

function markOf({ name, closing }: Tag): string {
  if (closing) return name === 'li' || name === 'tr' ? '' : '\n'
  if (/^h[1-6]$/.test(name)) return `\n\n${'#'.repeat(Number(name[1]))} `
  if (name === 'li') return '\n- '
  return name === 'p' || name === 'pre' || name === 'table' ? '\n\n' : '\n'
}

/** A tag, a comment or a declaration that begins here; null when it is just a sign. */
function tagAt(html: string, at: number): Tag | null {
  if (html.startsWith('<!--', at)) {
    const end = html.indexOf('-->', at + 4)
    return { name: '!', closing: false, text: '', end: end < 0 ? html.length : end + 3 }
  }
  const head = /^<(\/?)([A-Za-z!?][A-Za-z0-9:-]{0,40})/.exec(html.slice(at, at + 48))
  if (head === null) return null
  const end = html.indexOf('>', at)
  const stop = end < 0 ? html.length : end + 1
  return {
    name: head[2]!.toLowerCase(),
    closing: head[1] === '/',
    text: html.slice(at, Math.min(stop, at + 2000)),
    end: stop,
  }
}

function behindElement(html: string, tag: Tag, neverClosed: Set<string>): number {
  if (tag.text.endsWith('/>') || neverClosed.has(tag.name)) return tag.end
  const close = new RegExp(`</${tag.name}[\\s>]`, 'gi')
  close.lastIndex = tag.end
  const found = close.exec(html)
  if (found !== null) return html.indexOf('>', found.index) + 1 || html.length
  // An element that is never closed would swallow the page; take its tag alone, and do not look for its end again.
  neverClosed.add(tag.name)
  return tag.end
}

const hrefOf = (tag: string) => plain(/\shref\s{0,5}=\s{0,5}["']?([^"'\s>]{1,1000})/i.exec(tag)?.[1] ?? '')

function plain(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g,
    (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
      if (name !== undefined) return named[name] ?? whole
      const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
      const speakable = point >= 32 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
      return speakable || point === 9 || point === 10 ? String.fromCodePoint(point) : ''
    },
  )
}
