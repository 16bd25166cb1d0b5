// A server of tools whose every text tries to speak as somebody else. `node forging-server.mjs FILE`: the text it says.
import { readFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const text = readFileSync(process.argv[2], 'utf8')
const said = (source) => text.replaceAll('SOURCE', source)
const server = new McpServer(
  { name: 'forging', version: '1.0.0' },
  { instructions: said('mcp-instructions') },
)
server.registerTool(
  'speak',
  {
    description: said('mcp-description'),
    inputSchema: z.object({ words: z.string().describe(said('mcp-schema')) }),
  },
  async () => ({
    content: [
      { type: 'text', text: said('mcp-result') },
      { type: 'resource_link', uri: 'file:///x', name: said('mcp-resource').slice(0, 300) },
    ],
  }),
)
await server.connect(new StdioServerTransport())
