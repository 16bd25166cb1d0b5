// A deep agent of LangChain with its defaults and the shell of this machine, for one prompt. Given the folder its packages lie in, the address,
// the model and the file its conversation is kept in between two prompts; the prompt comes on stdin, the answer goes to stdout.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'

const [, , folder, url, model, file] = process.argv
const packageOf = createRequire(join(folder, 'package.json'))
const { ChatAnthropic } = packageOf('@langchain/anthropic')
const { MemorySaver } = packageOf('@langchain/langgraph')
const { createDeepAgent, LocalShellBackend } = packageOf('deepagents')

const checkpointer = new MemorySaver()
if (existsSync(file)) Object.assign(checkpointer, deserialize(readFileSync(file)))
const agent = createDeepAgent({
  model: new ChatAnthropic({ model, apiKey: 'none', anthropicApiUrl: url, maxTokens: 16_000 }),
  backend: await LocalShellBackend.create({ rootDir: process.cwd(), virtualMode: true, inheritEnv: true }),
  checkpointer,
})
const thread = 'main'
const { messages } = await agent.invoke(
  { messages: [{ role: 'user', content: readFileSync(0, 'utf8') }] },
  { configurable: { thread_id: thread }, recursionLimit: 100_000 },
)
process.stdout.write(messages.at(-1).text)

// Every step is a checkpoint with the whole conversation: only the newest is needed to go on.
const storage = Object.fromEntries(
  Object.entries(checkpointer.storage[thread]).map(([space, checkpoints]) => {
    const newest = Object.keys(checkpoints).toSorted().at(-1)
    return [space, { [newest]: checkpoints[newest] }]
  }),
)
writeFileSync(file, serialize({ storage: { [thread]: storage }, writes: {} }))
