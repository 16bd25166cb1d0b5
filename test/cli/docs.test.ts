import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keys } from '../../src/settings/schema.ts'
import { safeTools } from '../../src/tools/permission/judge.ts'
import { openWorkspace } from './pal.ts'

const page = (name: string) => readFile(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8')

describe('the pages', () => {
  it('[G22] name every setting with its variable, and no other', async () => {
    const rows = [...(await page('settings.md')).matchAll(/^\| `(\w+)` \|.*\|([^|]*)\|$/gm)]
    expect(rows.map(([, key]) => key)).toEqual(Object.keys(keys))
    for (const [, key, variable] of rows)
      expect(/`(\w+)`/.exec(variable!)?.[1]).toBe(keys[key as keyof typeof keys].variable)
  })

  it('[G22] name every command, every option of -p and the safe tools', async () => {
    const text = await page('cli.md')
    const { pal } = await openWorkspace()
    const listed = (await pal(['--help'])).out.split('Interactive:')[0]!
    const commands = [...listed.matchAll(/^ {2}([a-z]+)/gm)]
    expect(commands.length).toBeGreaterThan(8)
    for (const [, name] of commands.filter(([, name]) => name !== 'prompt' && name !== 'help'))
      expect(text).toContain(`\`pal ${name}`)
    const options = [...(await pal(['-p', '--help'])).out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
    for (const [, option] of options.filter(([, option]) => option !== '--help' && option !== '--print'))
      expect(text).toContain(option)
    expect(text).toContain(`Safe tools, which run without being allowed: ${safeTools.join(', ')}.`)
  })
})
