// The documentation as a static site, from the same files that are read in the repository: `npm run docs` writes site/.
// Links to pages become links to the site, links to source files stay as text; a link that leads nowhere is an error.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Every page of the repository that people read, as paths from its root. */
export function pagesOf(folder = root) {
  const atRoot = ['README.md', 'ARCHITECTURE.md', 'GLOSSARY.md', 'SPEC.md', 'CHANGELOG.md', 'CONTRIBUTING.md']
  const below = ['docs', 'examples'].flatMap((name) =>
    readdirSync(join(folder, name), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.md'))
      .map((file) => posix.join(name, file.replaceAll('\\', '/'))),
  )
  return [...atRoot, ...below].sort()
}

const isPage = (pages, path) => pages.includes(path)
const htmlOf = (page) => page.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')

/** As the host of the repository names headings, so that a link works in both places. */
function slugger() {
  const seen = new Map()
  return (text) => {
    const plain = text
      .toLowerCase()
      .replaceAll(/<[^>]*>|[`*]/g, '')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const count = seen.get(plain) ?? 0
    seen.set(plain, count + 1)
    return count === 0 ? plain : `${plain}-${count}`
  }
}

/** Files of the site by path, and what is wrong with the pages. */
export function siteOf(folder = root) {
  const pages = pagesOf(folder)
  const problems = []
  const anchors = new Map(pages.map((page) => [page, new Set()]))
  const links = []
  const files = new Map()
  const rendered = new Map()
  for (const page of pages) {
    const source = readFileSync(join(folder, page), 'utf8')
    const slug = slugger()
    const marked = new Marked({
      gfm: true,
      renderer: {
        heading({ tokens, depth, text }) {
          const id = slug(text)
          anchors.get(page).add(id)
          return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
        },
        link({ href, tokens }) {
          const inner = this.parser.parseInline(tokens)
          const target = targetOf(page, href)
          if (target === null) return `<a href="${escaped(href)}" rel="noreferrer">${inner}</a>`
          links.push({ page, href, ...target })
          if (!isPage(pages, target.path)) return inner
          const to =
            posix.relative(posix.dirname(htmlOf(page)), htmlOf(target.path)) || posix.basename(htmlOf(page))
          return `<a href="${to}${target.anchor === '' ? '' : `#${target.anchor}`}">${inner}</a>`
        },
        image({ href, text }) {
          const path = posix.join(posix.dirname(page), href)
          links.push({ page, href, path, anchor: '' })
          files.set(path, null)
          const to = posix.relative(posix.dirname(htmlOf(page)), path)
          return `<img src="${to}" alt="${escaped(text)}">`
        },
        html({ text }) {
          return escaped(text)
        },
        table({ header, rows }) {
          const cell = (name) => (each) => `<${name}>${this.parser.parseInline(each.tokens)}</${name}>`
          return `<div class="table"><table><thead><tr>${header.map(cell('th')).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`).join('')}</tbody></table></div>\n`
        },
      },
    })
    rendered.set(page, { body: marked.parse(source), title: /^# (.*)$/m.exec(source)?.[1] ?? page })
  }
  for (const { page, href, path, anchor } of links) {
    if (!existsSync(join(folder, path))) problems.push(`${page}: ${href} leads nowhere`)
    else if (anchor !== '' && anchors.has(path) && !anchors.get(path).has(anchor))
      problems.push(`${page}: ${href} names no heading of ${path}`)
  }
  const index = readFileSync(join(folder, 'docs/README.md'), 'utf8')
  const named = new Set([...index.matchAll(/\]\(([^)#]+)/g)].map(([, href]) => posix.join('docs', href)))
  for (const page of pages)
    if (page !== 'docs/README.md' && !named.has(page) && !page.startsWith('docs/api/'))
      problems.push(`${page} is not in the index docs/README.md`)
  for (const [page, { body, title }] of rendered) files.set(htmlOf(page), frame(page, title, body, index))
  files.set('style.css', style)
  return { files, problems }
}

function targetOf(page, href) {
  if (/^[a-z]+:/i.test(href)) return null
  const [path, anchor = ''] = href.split('#')
  return {
    path: path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, ''),
    anchor,
  }
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The index page is the menu of every page. */
function menuOf(page, index) {
  const here = posix.dirname(htmlOf(page))
  return index
    .split('\n')
    .flatMap((line) => {
      const heading = /^##+ (.*)$/.exec(line)
      if (heading !== null) return [`<h2>${escaped(heading[1])}</h2>`]
      return [...line.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)].map(([, text, href]) => {
        const target = posix.join('docs', href)
        const to = posix.relative(here, htmlOf(target)) || posix.basename(htmlOf(target))
        return `<a href="${to}"${target === page ? ' aria-current="page"' : ''}>${escaped(text.replaceAll('`', ''))}</a>`
      })
    })
    .join('\n')
}

function frame(page, title, body, index) {
  const up = posix.relative(posix.dirname(htmlOf(page)), '.') || '.'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
<title>${escaped(title.replaceAll('`', ''))} · Palimpsest</title>
<link rel="stylesheet" href="${up}/style.css">
</head>
<body>
<nav aria-label="Pages">
${menuOf(page, index)}
</nav>
<main>
${body}
</main>
</body>
</html>
`
}

const style = `:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --link: #7ab7ff; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { border-right: 1px solid var(--line); padding: 1.5rem 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; font-size: 14px; }
nav h2 { font-size: 13px; margin: 1.2rem 0 0.3rem; opacity: 0.7; }
nav a { display: block; padding: 0.1rem 0; text-decoration: none; }
nav a[aria-current] { font-weight: 600; }
main { padding: 2rem; max-width: 60rem; }
a { color: var(--link); }
pre, code { font: 13.5px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: 0.8rem 1rem; overflow: auto; border-radius: 6px; }
:not(pre) > code { background: var(--soft); padding: 0.1em 0.3em; border-radius: 4px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: 0.35rem 0.7rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr); } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 1rem; } }
`

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  const out = resolve(process.argv[2] ?? join(root, 'site'))
  const { files, problems } = siteOf()
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) process.exit(1)
  rmSync(out, { recursive: true, force: true })
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    if (text === null) cpSync(join(root, path), join(out, path))
    else writeFileSync(join(out, path), text)
  }
  process.stdout.write(
    `${files.size} files in ${relative(process.cwd(), out) || '.'}: open ${relative(process.cwd(), join(out, 'index.html'))}\n`,
  )
}
