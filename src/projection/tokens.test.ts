import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentBlock, imageBlock, jpeg, pdf, png } from '../../test/media-bytes.ts'
import { defaults } from '../settings/defaults.ts'
import {
  countSteps,
  estimateBlock,
  estimateBlocks,
  estimateText,
  estimateTool,
  stepWeights,
} from './tokens.ts'
import type { ViewBlock } from './view.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(
      fc.constantFrom('getUserName', ' ', '\n', '0x1f', '{"a":', '漢字', '한글', '🙂', '\t', 'ñ', '=='),
      { maxLength: 60 },
    )
    .map((words) => words.join('')),
)
const result = (text: string): ViewBlock => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: [{ type: 'text', text }],
  is_error: false,
})

describe('estimateText', () => {
  it('[K1] is the weighted sum of the steps it was fitted on', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const steps = Object.entries(countSteps(text)) as [keyof typeof stepWeights, number][]
        const sum = steps.reduce((total, [label, count]) => total + count * stepWeights[label], 0)
        expect(estimateText(text)).toBeGreaterThanOrEqual(Math.ceil(sum - 1e-6))
        expect(estimateText(text)).toBeLessThanOrEqual(Math.ceil(sum + 1e-6))
      }),
    )
  })

  it('[K2] never falls when text is added, and hardly depends on where a text is cut', () => {
    const mostAtACut = 2 + 2 * Math.max(...Object.values(stepWeights))
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        const whole = estimateText(left + right)
        expect(whole).toBeGreaterThanOrEqual(estimateText(left))
        // A word that is cut may be counted twice as far in as it was: a few letters weigh differently.
        expect(Math.abs(whole - estimateText(left) - estimateText(right))).toBeLessThanOrEqual(mostAtACut)
      }),
    )
  })

  it('[K3] counts every Han, kana and Hangul character as one token or more', () => {
    expect(estimateText('压缩必须在上下文太长时工作'.repeat(16))).toBeGreaterThanOrEqual(13 * 16)
    for (const [min, max] of [
      [0x4e00, 0x9fff],
      [0x3041, 0x30ff],
      [0xac00, 0xd7a3],
      [0x20000, 0x2a6df],
    ] as const) {
      fc.assert(
        fc.property(fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 160 }), (codes) => {
          expect(estimateText(String.fromCodePoint(...codes))).toBeGreaterThanOrEqual(codes.length)
        }),
      )
    }
  })

  it('[K1] gives code, prose and JSON two to five characters a token', () => {
    const samples = [
      'export function estimateText(text: string): number {\n  return Math.ceil(weigh(text))\n}\n',
      'The context is rewritten again and again so that it fits the window and stays cheap. ',
      '{"file_path":"/home/dev/src/main.ts","old_string":"a","new_string":"b","replace_all":false}',
    ]
    for (const text of samples) {
      const charsPerToken = text.length / estimateText(text)
      expect(charsPerToken).toBeGreaterThan(2)
      expect(charsPerToken).toBeLessThan(5)
    }
    expect(estimateText('')).toBe(0)
  })
})

describe('estimateBlock', () => {
  it('[K4] counts a tool result whole, however long it is', () => {
    const text = 'line of output\n'.repeat(40_000)
    const line = estimateBlock(result('line of output\n')) - estimateBlock(result(''))
    expect(estimateBlock(result(text))).toBeGreaterThan(40_000 * (line - 1))
  })

  it('[K5] counts a call with its name and input, and a broken one with what came of its arguments', () => {
    const call = {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'write_file',
      input: { text: 'x '.repeat(1000) },
    } as const
    const broken = { ...call, input: {}, broken: '{"text":"' + 'x '.repeat(1000) } as const
    expect(estimateBlock(call)).toBeGreaterThan(estimateText(JSON.stringify(call.input)))
    expect(estimateBlock(broken)).toBeGreaterThan(estimateText(broken.broken))
    const longer = { ...call, name: 'write_file_to_a_place_far_away' }
    expect(estimateBlock(longer)).toBeGreaterThan(estimateBlock(call))
  })

  it('[K6] counts thinking by its signature where its text is empty or a digest', () => {
    const sealed = { type: 'thinking', thinking: '', signature: 'a'.repeat(4000) } as const
    const recorded = { type: 'thinking', thinking: '', signature_chars: 4000 } as const
    const digest = { ...sealed, thinking: 'I looked at it.' }
    const open = { type: 'thinking', thinking: 'I looked at it. '.repeat(100) } as const
    expect(estimateBlock(sealed)).toBeGreaterThan(400)
    expect(estimateBlock(recorded)).toBe(estimateBlock(sealed))
    expect(estimateBlock(digest)).toBe(estimateBlock(sealed))
    expect(estimateBlock(open)).toBe(estimateText(open.thinking))
    expect(estimateBlock({ type: 'redacted_thinking', data: 'a'.repeat(4000) })).toBe(estimateBlock(sealed))
  })

  it('[K7] counts an image by its sides, a PDF by its pages, a text document by its text, the unknown flat', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) }
    expect(estimateBlock(imageBlock(png(280, 28)))).toBe(10)
    expect(estimateBlock(imageBlock(jpeg(1000, 1000)))).toBe(36 * 36)
    expect(estimateBlock(imageBlock(png(2576, 2576)))).toBe(defaults.counting.imageTokens)
    expect(estimateBlock(imageBlock(png(8000, 10)))).toBe(92)
    expect(estimateBlock(documentBlock(pdf(40)))).toBe(40 * defaults.counting.pageTokens)
    const text = 'a page of text '.repeat(5000)
    expect(estimateBlock({ type: 'image', source })).toBe(defaults.counting.mediaTokens)
    const away = { type: 'url', url: 'https://example.org/a.pdf' }
    expect(estimateBlock({ type: 'document', source: away })).toBe(defaults.counting.mediaTokens)
    expect(estimateBlock({ type: 'document', source: { type: 'text', data: text } })).toBe(estimateText(text))
    const shown = {
      type: 'tool_result',
      tool_use_id: 'x',
      content: [{ type: 'image', source }],
      is_error: false,
    } as const
    expect(estimateBlock(shown)).toBeGreaterThanOrEqual(defaults.counting.mediaTokens)
  })

  it('[K1] counts blocks as the sum of each, and a tool definition with all its parts', () => {
    const blocks: ViewBlock[] = [
      { type: 'text', text: 'one' },
      result('two'),
      { type: 'text', text: 'three' },
    ]
    expect(estimateBlocks(blocks)).toBe(blocks.reduce((sum, block) => sum + estimateBlock(block), 0))
    const tool = {
      name: 'read',
      description: 'Reads a file. '.repeat(20),
      input_schema: { type: 'object', properties: {} },
    }
    expect(estimateTool(tool)).toBeGreaterThan(estimateText(tool.description))
  })
})
