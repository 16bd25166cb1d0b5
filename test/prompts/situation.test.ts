// What may change is said when it changes, and is right after a resume; the prefix claims nothing of it.
import { expect, it } from 'vitest'
import { turn } from '../e2e/simulated.ts'
import { messageTexts, opened, systemText } from './scene.ts'

const modesIn = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => [...text.matchAll(/<mode name="(\w+)"[^>]*>\n[^<]*/gu)].map(([all]) => all))

it('[Q10] a session begun in plan mode and continued in another is told the new mode, and its prefix names none', async () => {
  const first = await opened(['a plan'], { settings: { permissionMode: 'plan' }, asks: 'yes' })
  const session = await first.preset.engine.open()
  await turn(session.send('look'))
  await session.close()
  const begun = first.requests()[0]!
  expect(systemText(begun)).not.toMatch(
    /plan mode|read-only calls only|nobody can be asked|nothing may be changed/iu,
  )
  expect(modesIn(messageTexts(begun)).join()).toContain('Plan mode: read-only calls only')
  const { home, place } = first
  const second = await opened(['going on', 'more'], {
    settings: { permissionMode: 'acceptEdits' },
    asks: 'nobody',
    home,
    place,
  })
  const resumed = await second.preset.engine.open(session.id)
  await turn(resumed.send('go on'))
  await turn(resumed.send('and on'))
  const modes = modesIn(messageTexts(second.requests().at(-1)!))
  expect(modes).toHaveLength(2)
  expect(modes[1]).toContain('<mode name="acceptEdits"')
  expect(modes[1]).toContain('Nobody can answer')
})

it('[Q10] a change in the middle of a session is said once, with folder, date and model', async () => {
  const { preset, requests, place } = await opened(['one', 'two', 'three'])
  const session = await preset.engine.open()
  await turn(session.send('hi'))
  preset.permission.setMode('plan')
  await turn(session.send('plan it'))
  await turn(session.send('again'))
  const modes = modesIn(messageTexts(requests().at(-1)!))
  expect(modes.map((mode) => /name="(\w+)"/u.exec(mode)?.[1])).toEqual(['default', 'plan'])
  expect(modes[0]).toContain(`folder="${place}" date="2026-01-05" model="`)
})

it('[Q10] plan mode, its refusal and the Plan tool say the same: call Plan, whose approval ends the mode', async () => {
  const { call } = await import('../../src/simulator/index.ts')
  const write = call('Write', { file_path: 'a.txt', content: 'x' })
  const { preset, requests } = await opened([[write], [call('Plan', { plan: 'write a.txt' })], 'done'], {
    settings: { permissionMode: 'plan' },
  })
  await turn((await preset.engine.open()).send('write it'))
  const texts = messageTexts(requests().at(-1)!).join('\n')
  expect(texts).toContain('plan mode is read-only. Call Plan to get approval')
  expect(texts).toContain('then call Plan with the full plan; approval ends this mode')
  expect(modesIn([texts]).at(-1)).toContain('<mode name="default"')
})
