// LangChain.js on all four wires: parallel tools, streams, usage, errors. Given the simulator's address; prints one line of JSON.
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { z } from 'zod'

const [, , url] = process.argv
const read = tool(({ path }) => `content of ${path}`, {
  name: 'read',
  description: 'reads',
  schema: z.object({ path: z.string() }),
})
const openai = (apiKey, more) =>
  new ChatOpenAI({
    model: 'gpt-6-sol',
    apiKey,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
    ...more,
  })
const wires = {
  'Messages API': (apiKey) =>
    new ChatAnthropic({
      model: 'claude-opus-5',
      apiKey,
      anthropicApiUrl: url,
      maxRetries: 0,
      maxTokens: 4000,
    }),
  'Chat Completions': (apiKey) => openai(apiKey, { useResponsesApi: false }),
  Responses: (apiKey) => openai(apiKey, { useResponsesApi: true }),
  Gemini: (apiKey) =>
    new ChatGoogleGenerativeAI({ model: 'gemini-2.5-pro', apiKey, baseUrl: url, maxRetries: 0 }),
}

async function tried(name, make) {
  const model = make('right')
  const bound = model.bindTools([read])
  const asked = [new HumanMessage('go')]
  const first = await bound.invoke(asked)
  const results = first.tool_calls.map(
    ({ id, name: called, args }) =>
      new ToolMessage({ tool_call_id: id, name: called, content: `content of ${args.path}` }),
  )
  const second = await bound.invoke([...asked, first, ...results])
  const pieces = []
  for await (const piece of await bound.stream([...asked, first, ...results])) pieces.push(piece.text)
  const agent = createAgent({ model, tools: [read] })
  const ended = await agent.invoke({ messages: asked })
  const refused = await make('wrong')
    .invoke(asked)
    .then(
      () => 'taken',
      (error) => String(error.status ?? error.lc_error_code ?? error.message),
    )
  return {
    name,
    calls: first.tool_calls.map(({ args }) => args.path),
    said: second.text,
    streamed: pieces.join(''),
    pieces: pieces.length,
    usage: second.usage_metadata?.input_tokens ?? 0,
    agent: ended.messages.at(-1).text,
    refused,
  }
}

const seen = []
for (const [name, make] of Object.entries(wires)) {
  seen.push(await tried(name, make).catch((error) => ({ name, failed: String(error.stack ?? error) })))
}
process.stdout.write(JSON.stringify(seen))
