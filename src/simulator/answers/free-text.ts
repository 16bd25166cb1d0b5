// Owns calls of tools that take free text instead of arguments: a patch, a command, or a program that calls a tool.
import type { WireTool } from '../../model/wire.ts'
import type { Intent } from './intent.ts'

/** Tools that change files by a patch, whatever form their input has. */
export const patchName = /^apply_?patch$/iu

/** What such a tool is given; null for tools with arguments. */
export function freeText(tool: WireTool, intent: Intent): string | null {
  if (patchName.test(tool.name)) return patchOf(intent)
  if (tool.input_schema?.['x-free-text'] !== true) return null
  const command = intent.command ?? ''
  return /javascript/iu.test(tool.description ?? '') ? programOf(command, tool) : command
}

/** A file that is there is updated by its old and new lines, a new one is added. */
function patchOf({ verb, path = '', old = '', new: now = '', content = '' }: Intent): string {
  const marked = (mark: string, text: string): string =>
    // The end of the last line is no line of its own.
    text
      .replace(/\n$/u, '')
      .split('\n')
      .map((line) => `${mark}${line}`)
      .join('\n')
  const change =
    verb === 'edit'
      ? `*** Update File: ${path}\n@@\n${marked('-', old)}\n${marked('+', now)}`
      : `*** Add File: ${path}\n${marked('+', content)}`
  return `*** Begin Patch\n${change}\n*** End Patch`
}

/** The nested tool is looked up in the description, as every name is. */
function programOf(command: string, tool: WireTool): string {
  const nested = /tools\.(\w*(?:exec|shell|bash)\w*)/iu.exec(tool.description ?? '')?.[1] ?? 'exec_command'
  const argument = /\bcmd\b/u.test(tool.description ?? '') ? 'cmd' : 'command'
  return `const result = await tools.${nested}({ ${argument}: ${JSON.stringify(command)} });\ntext(result.output ?? result);`
}
