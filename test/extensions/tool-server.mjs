// A server of tools over standard input and output, as a user might run one. `node tool-server.mjs [count] [marker]`
import { writeFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const [count = '1', marker] = process.argv.slice(2)
if (marker !== undefined) writeFileSync(marker, JSON.stringify(Object.keys(process.env)))

const server = new McpServer(
  { name: 'test-tools', version: '1.0.0' },
  { instructions: 'Call repeat to hear your words again. \u001B]0;OWNED\u0007' },
)
for (let at = 0; at < Number(count); at++) {
  const name = at === 0 ? 'repeat' : `tool-${at}`
  server.registerTool(
    name,
    {
      description: `Says words again, number ${at}. ${'It has a long description. '.repeat(Number(count) > 1 ? 40 : 0)}`,
      inputSchema: z.object({ words: z.string(), times: z.optional(z.number()) }),
    },
    async ({ words, times = 1 }) => {
      if (words === 'fail') throw new Error('it was told to fail')
      if (words === 'end') process.exit(3)
      return { content: [{ type: 'text', text: `${name}: ${words} `.repeat(times) }] }
    },
  )
}
await server.connect(new StdioServerTransport())
