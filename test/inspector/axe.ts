// What axe finds on a page.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly string[]
}

/** What axe finds on the page as it is, of all its rules or of some. Its script is put in by the debugger, past the page's policy. */
export async function findings(page: Page, rules: readonly string[] = []): Promise<readonly Finding[]> {
  if (!(await page.evaluate("'axe' in window")))
    await page.evaluate(`{ ${axeSource} ; window.axe = axe ?? window.axe }`)
  const only = rules.length === 0 ? {} : { runOnly: { type: 'rule', values: rules } }
  const options = JSON.stringify({ resultTypes: ['violations'], ...only })
  return (await page.evaluate(`
    window.axe.run(document, ${options}).then(({ violations }) =>
      violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 160)) })))
  `)) as Finding[]
}
