import { describe, expect, it } from 'vitest'
import type { WireTool } from '../../model/wire.ts'
import { plainText } from '../answer.ts'
import { ruleModel } from './rule-model.ts'

const free = (name: string, description = ''): WireTool => ({
  name,
  description,
  input_schema: { type: 'object', properties: { input: { type: 'string' } }, 'x-free-text': true },
})
const answerTo = async (step: string, tools: readonly WireTool[]) => {
  const content = `<task name="t">\n1. ${step}\n</task>`
  const request = { model: 'm', max_tokens: 1000, messages: [{ role: 'user' as const, content }], tools }
  const { content: blocks } = await ruleModel().answer({ request, headers: {}, turn: 1, now: 0 })
  const made = blocks.find((block) => block.type === 'tool_use')
  return made === undefined ? plainText(blocks) : [made['name'], made['input']]
}

describe('tools that take free text', () => {
  it('[W5] a command is written as it is, or as a program that calls the tool its description names', async () => {
    expect(await answerTo('run node --test', [free('shell')])).toEqual(['shell', { input: 'node --test' }])
    const script = free('exec', 'Runs JavaScript. For example `await tools.exec_command({ cmd: "ls" })`.')
    expect(await answerTo('run echo "a"', [script])).toEqual([
      'exec',
      {
        input:
          'const result = await tools.exec_command({ cmd: "echo \\"a\\"" });\ntext(result.output ?? result);',
      },
    ])
  })

  it('[W5] a change of a file is a patch where the tool takes patches', async () => {
    expect(await answerTo('edit a.txt "one" -> "two"', [free('apply_patch')])).toEqual([
      'apply_patch',
      { input: '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch' },
    ])
    expect(await answerTo('write b.txt\n<<<\none\ntwo\n>>>', [free('apply_patch')])).toEqual([
      'apply_patch',
      { input: '*** Begin Patch\n*** Add File: b.txt\n+one\n+two\n*** End Patch' },
    ])
  })

  it('[W5] a command for a tool that takes a list of words goes through a shell', async () => {
    const shell = {
      name: 'shell',
      input_schema: { type: 'object', properties: { command: { type: 'array', items: { type: 'string' } } } },
    }
    expect(await answerTo('run ls | wc', [shell])).toEqual(['shell', { command: ['bash', '-lc', 'ls | wc'] }])
  })
})
