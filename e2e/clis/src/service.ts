// The mock models of the suite in a separate process: the wire mocks of the providers on one port. The last prompt
// selects the response. Prints its address, and appends a line to a file for each request.
import { appendFileSync } from 'node:fs';
import type { MockReply, ProviderTesting, ReadPart, ReadRequest } from '@cobbler/agent/testing';
import {
  callBlock,
  failsWith,
  replies,
  scriptResponse,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { responsesTesting } from '@cobbler/provider-openai/testing';

type Body = Readonly<Record<string, unknown>>;

/**
 * The programs send fields and headers that our providers do not, and the mocks reject unknown fields, so only the
 * paths and the turns are checked.
 */
const claude: ProviderTesting = {
  ...claudeTesting,
  request: { path: '/v1/messages' },
  refuse: () => undefined,
  read: (body) => {
    const request = body as Body & { readonly messages: readonly Body[] };
    const messages = request.messages.filter(({ role }) => role !== 'system');
    return claudeTesting.read({ ...request, messages });
  },
};

const responses: ProviderTesting = {
  ...responsesTesting,
  request: { path: '/v1/responses' },
  refuse: () => undefined,
  read: readResponses,
};

function readResponses(body: unknown): ReadRequest {
  const { model, input } = body as { readonly model: string; readonly input: readonly Body[] };
  const parts = input.flatMap((item): ReadPart[] => {
    if (item['type'] === 'function_call_output')
      return [
        { type: 'result', id: String(item['call_id']), text: JSON.stringify(item['output']), isError: false },
      ];
    if (item['role'] !== 'user') return [];
    const content = item['content'] as readonly Body[];
    return content.flatMap(({ text }) => (typeof text === 'string' ? [{ type: 'text' as const, text }] : []));
  });
  return { model, system: '', turns: [{ side: 'user', parts }], tools: [], toolChoice: 'auto' };
}

const usage = { inputTokens: 120, outputTokens: 30, cacheReadTokens: 0, reasoningTokens: 0 };

const answers = (...blocks: Parameters<typeof scriptResponse>[0]) =>
  replies(scriptResponse(blocks, { usage }));

/** A shell command that ignores signals and never ends. */
const stubborn = `trap "" TERM INT HUP; echo begun > begun; while :; do sleep 0.1; done`;

let calls = 0;

/** Returns a call of the program's own tool. */
function call(isClaude: boolean, command: string) {
  calls += 1;
  if (!isClaude) return callBlock(`call_${calls}`, 'exec_command', { cmd: command });
  return callBlock(`toolu_${calls}`, 'Bash', { command, description: 'a step of the suite' });
}

function answerTo(isClaude: boolean, { turns }: ReadRequest): MockReply {
  const parts = turns.flatMap((turn) => turn.parts);
  const scenes = parts.map((part) =>
    part.type === 'text' ? /scene:(\S+)(?: (\S+))?/.exec(part.text) : null,
  );
  const at = scenes.findLastIndex((scene) => scene !== null);
  const [, scene = '', word = ''] = scenes[at] ?? [];
  const results = parts.slice(at + 1).filter((part) => part.type === 'result');
  const heard = scenes.filter((one) => one !== null).length;
  switch (scene) {
    case 'say':
      return answers('Hello from the mock.');
    case 'count':
      return answers(`Heard ${heard}.`);
    case 'shell':
      if (results.length === 0) return answers('Working.', call(isClaude, `touch ${word}`));
      return answers('All done.');
    case 'write': {
      if (results.length > 0) return answers('All done.');
      const input = { file_path: `${word}/written.txt`, content: 'by the model' };
      return answers('Writing.', callBlock(`toolu_${++calls}`, 'Write', input));
    }
    case 'read':
      if (results.length === 0)
        return answers('Reading.', callBlock(`toolu_${++calls}`, 'Read', { file_path: word }));
      return answers(
        `It gave ${results[0]?.type === 'result' && results[0].text.includes('treasure') ? 'it' : 'nothing'}.`,
      );
    case 'plan':
      if (results.length === 0) {
        const write = { file_path: `${word}/planned.txt`, content: 'too soon' };
        return answers('Writing.', callBlock(`toolu_${++calls}`, 'Write', write));
      }
      if (results.length === 1)
        return answers('Planning.', callBlock(`toolu_${++calls}`, 'ExitPlanMode', {}));
      return answers('The plan is ready.');
    case 'stubborn':
      return results.length === 0 ? answers('Working.', call(isClaude, stubborn)) : answers('All done.');
    case 'mcp': {
      // Claude Code calls Cobbler as a tool; this service also responds as Cobbler's model.
      if (results.length > 0) return answers('Cobbler has done it.');
      const input = { prompt: `scene:files ${word}` };
      return answers('Handing over.', callBlock(`toolu_${++calls}`, 'mcp__cobbler__cobbler_run', input));
    }
    case 'files': {
      if (results.length > 0) return answers('Cobbler wrote it.');
      const input = { path: word, content: 'by cobbler' };
      return answers('Writing.', callBlock(`toolu_${++calls}`, 'write_file', input));
    }
    case 'listen':
      if (heard > 1) return answers('Enough.');
      return answers('Working.', call(isClaude, `sleep 0.${(calls % 5) + 1}`));
    case 'silent':
      return { type: 'silent' };
    case 'overloaded':
      return failsWith({ kind: 'busy', message: 'Overloaded' });
    case 'refused':
      return failsWith({ kind: 'auth', message: 'The key is no good.' });
    default:
      return answers(`There is no scene ${scene}.`);
  }
}

const log = process.argv[2] ?? '/dev/null';
const services = {
  '/v1/messages': wireServer(claude, (request) => answerTo(true, request)),
  '/v1/responses': wireServer(responses, (request) => answerTo(false, request)),
};
const { url } = await serveLoopback(async (request) => {
  const { pathname } = new URL(request.url);
  appendFileSync(log, `${pathname}\n`);
  const service = services[pathname as keyof typeof services];
  return service === undefined ? new Response('not here', { status: 404 }) : service.handler(request);
});
process.stdout.write(`${url}\n`);
