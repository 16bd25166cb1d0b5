// The tools of Responses, field by field: functions, tools that take free text, namespaces of both; those the vendor runs stay open.
import type { ApiFault } from '../errors.ts'
import {
  byType,
  isBoolean,
  isObject,
  isString,
  listOf,
  named,
  fieldsOf,
  oneOf,
  orNull,
  type ApiCheck,
  type ApiFields,
} from '../shape.ts'

const MOST_NAME_CHARS = 128
const MOST_TOOLS = 128
const NAME = /^[a-zA-Z0-9_-]+$/
const tag: ApiFields = { type: isString }
const HOSTED_TOOLS = [
  'file_search',
  'computer',
  'computer_use_preview',
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'mcp',
  'code_interpreter',
  'programmatic_tool_calling',
  'image_generation',
  'local_shell',
  'shell',
  'tool_search',
  'apply_patch',
]

export const tools = (value: unknown, path: string): ApiFault | null =>
  listOf(toolShape, MOST_TOOLS)(value, path)

const toolShape: ApiCheck = (value, path) =>
  byType({
    function: fieldsOf(
      { ...tag, name: named(MOST_NAME_CHARS, NAME) },
      {
        description: orNull(isString),
        parameters: orNull(isObject),
        strict: orNull(isBoolean),
        defer_loading: orNull(isBoolean),
        async: orNull(isBoolean),
        allowed_callers: orNull(listOf(isString)),
        output_schema: orNull(isObject),
      },
      'refused',
    ),
    custom: fieldsOf(
      { ...tag, name: named(MOST_NAME_CHARS, NAME) },
      {
        description: isString,
        format: byType({
          text: isObject,
          grammar: fieldsOf({ ...tag, syntax: oneOf('lark', 'regex'), definition: isString }, {}, 'refused'),
        }),
        defer_loading: orNull(isBoolean),
        async: orNull(isBoolean),
        allowed_callers: orNull(listOf(isString)),
      },
      'refused',
    ),
    namespace: fieldsOf(
      { ...tag, name: named(MOST_NAME_CHARS, NAME), tools },
      { description: isString },
      'refused',
    ),
    ...Object.fromEntries(HOSTED_TOOLS.map((each) => [each, isObject])),
  })(value, path)

export const toolChoice: ApiCheck = (value, path) =>
  typeof value === 'string'
    ? oneOf('none', 'auto', 'required')(value, path)
    : byType({
        function: fieldsOf({ ...tag, name: isString }, {}, 'refused'),
        custom: fieldsOf({ ...tag, name: isString }, {}, 'refused'),
        allowed_tools: isObject,
        mcp: isObject,
        ...Object.fromEntries(HOSTED_TOOLS.map((each) => [each, isObject])),
      })(value, path)
