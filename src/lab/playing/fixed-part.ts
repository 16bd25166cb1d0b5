// System prompt and tools in the size they were recorded with. Vendors' prompts are not part of recordings, so plain
// filler stands for them; what counts is how much it weighs and that it never moves.
import { defaults } from '../../settings/defaults.ts'
import type { Counter, SimulatedModel } from '../../simulator/index.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Script } from './script.ts'

export interface FixedPart {
  readonly system: string
  readonly tools: readonly Tool[]
}

/** Tools of all recorders whose old results may be cleared: they read, search, run or write. */
const clearable =
  /^(?:read|view|cat|ls|bash|rg|grep|glob|edit|write|multiedit|exec|shell|apply_patch|str_replace\w*|(?:read|write)_(?:file|stdin)|exec_command|execute_bash|web_?(?:search|fetch)|crawl_tool)$/i

export function fixedPart(
  script: Script,
  spills: boolean,
  counter: Counter,
  model: SimulatedModel,
): FixedPart {
  const tools = script.tools.map((name) => toolOf(name, spills))
  const known = tools.reduce((sum, { spec }) => sum + counter.tool(spec, model), 0) + counter.overhead(model)
  const first = script.steps[0]?.input ?? []
  const input = [...first, ...(script.reminder === null ? [] : [textBlock(script.reminder)])]
  const said = input.reduce((sum, block) => sum + counter.block({ ...block }, model), 0)
  const { unknownFixedTokens } = defaults.lab
  const whole = script.firstRequestTokens === null ? unknownFixedTokens : script.firstRequestTokens - said
  if (script.firstRequestTokens === null && script.system !== null) return { system: script.system, tools }
  return { system: filler(Math.max(1, whole - known), counter, model), tools }
}

const textBlock = (text: string) => ({ type: 'text' as const, text })
const sentence =
  'You work on the files of this project with the tools you are given and report what you did. '

function filler(tokens: number, counter: Counter, model: SimulatedModel): string {
  const each = counter.block(textBlock(sentence.repeat(100)), model) / 100
  return sentence.repeat(Math.max(1, Math.round(tokens / each)))
}

function toolOf(name: string, spills: boolean): Tool {
  return {
    spec: { name, description: `As recorded: ${name}.`, input_schema: { type: 'object' } },
    policy: {
      readOnly: false,
      results: clearable.test(name) ? 'clear' : 'keep',
      maxResultChars: spills && !/^(?:read|view)$/i.test(name) ? defaults.results.maxChars : null,
    },
    parse: (input) => ({ ok: true, input }),
    run: () => Promise.resolve({ content: [], isError: true }),
  }
}
