import type { ApprovalDecision, ResumeOptions, UserPart } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, runPrompt, toolCallingAgent, toolWith, untyped } from './place.ts';

/** Prompts that contain the value at different places. */
const prompts: Readonly<Record<string, (value: unknown) => unknown>> = {
  prompt: (value) => value,
  'prompt[0]': (value) => [value],
  'prompt[1]': (value) => [{ role: 'user', content: 'Hi.' }, value],
  'prompt[0].role': (role) => [{ role, content: 'Hi.' }],
  'prompt[0].content': (content) => [{ role: 'user', content }],
  'prompt[0].content[0]': (part) => [{ role: 'user', content: [part] }],
  'prompt[0].type': (type) => [{ type, text: 'Hi.' }],
  'prompt[0].text': (text) => [{ type: 'text', text }],
  'prompt[0].mediaType': (mediaType) => [{ type: 'file', mediaType, data: 'AA==' }],
  'prompt[0].data': (data) => [{ type: 'file', mediaType: 'image/png', data }],
  'prompt[0].name': (name) => [{ type: 'file', mediaType: 'image/png', data: 'AA==', name }],
  'prompt[0].extra': (extra) => [{ type: 'text', text: 'Hi.', extra }],
  'prompt[1].content': (content) => [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content },
    { role: 'user', content: 'And?' },
  ],
  'prompt[0].toolCallId': (toolCallId) => [
    { role: 'tool_result', toolCallId, content: 'Done.' },
    { role: 'user', content: 'Hi.' },
  ],
  'prompt[0].isError': (isError) => [
    { role: 'tool_result', toolCallId: 'a', content: 'Done.', isError },
    { role: 'user', content: 'Hi.' },
  ],
  ...assistantParts({
    text: (text) => ({ type: 'text', text }),
    reasoning: (text) => ({ type: 'reasoning', text }),
    seal: (seal) => ({ type: 'opaque', seal }),
    'seal.provider': (provider) => ({ type: 'opaque', seal: { provider, data: 'x' } }),
    'seal.data': (data) => ({ type: 'reasoning', text: 'x', seal: { provider: 'puppet', data } }),
    id: (id) => ({ type: 'tool_call', id, toolName: 'one', arguments: {} }),
    toolName: (toolName) => ({ type: 'tool_call', id: 'a', toolName, arguments: {} }),
    arguments: (args) => ({ type: 'tool_call', id: 'a', toolName: 'one', arguments: args }),
    'arguments.x': (x) => ({ type: 'tool_call', id: 'a', toolName: 'one', arguments: { x } }),
    problem: (problem) => ({ type: 'tool_call', id: 'a', toolName: 'one', arguments: {}, problem }),
  }),
};

type Build = (value: unknown) => unknown;

function assistantParts(parts: Readonly<Record<string, Build>>): Record<string, Build> {
  const entries = Object.entries(parts).map(([field, part]): [string, Build] => [
    `prompt[1].content[0].${field}`,
    (value) => [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [part(value)] },
      { role: 'tool_result', toolCallId: 'a', content: 'Done.' },
      { role: 'user', content: 'And?' },
    ],
  ]);
  return Object.fromEntries(entries);
}

/** Starts a run, and passes the value once it waits for a decision. */
async function waiting(
  setup: RunFixture,
  pass: (approvalId: string, run: ReturnType<RunFixture['run']>) => unknown,
): Promise<unknown> {
  const run = setup
    .executor({ agent: toolCallingAgent(), tools: [toolWith()], gate: () => 'ask', attended: true })
    .run('Go.');
  const approvalId = await new Promise<string>((resolve) => {
    run.subscribe((event) => {
      if (event.type === 'approval_requested') resolve(event.approvalId);
    });
  });
  try {
    await pass(approvalId, run);
  } finally {
    run.decide(approvalId, { decision: 'allow' });
  }
  return run.result;
}

/** Ends a run that waits for a decision, and resumes it with these arguments. */
async function resume(setup: RunFixture, options: unknown, sessionId: unknown = 'here'): Promise<unknown> {
  const executor = setup.executor({ agent: toolCallingAgent(), tools: [toolWith()], gate: () => 'ask' });
  await executor.run('Go.', { sessionId: 'here' });
  return executor.resume(untyped<string>(sessionId), untyped<ResumeOptions>(options)).result;
}

/** The prompt, steering and decisions. */
export const contentPlaces: readonly Place[] = [
  ...Object.entries(prompts).map(([path, build]) =>
    place(`run: ${path}`, (setup, value) => runPrompt(setup, {}, build(value)), 'prompt'),
  ),
  place(
    'run: prompt of a session with a conversation',
    async (setup, value) => {
      await runPrompt(setup, {}, 'Go.', { sessionId: 'here' });
      return runPrompt(setup, {}, value, { sessionId: 'here' });
    },
    'prompt',
  ),
  place(
    'advance: options.prompt',
    (setup, prompt) =>
      setup
        .executor({ agent: toolCallingAgent() })
        .advance({ sessionId: 'here', runId: 'run-1', prompt: untyped<string>(prompt) }),
    'prompt',
  ),
  place('steer: content', (setup, value) => waiting(setup, (_, run) => run.steer(untyped<string>(value)))),
  place(
    'steer: content[0]',
    (setup, value) => waiting(setup, (_, run) => run.steer([untyped<UserPart>(value)])),
    'content',
  ),
  place('subscribe: listener', (setup, value) =>
    waiting(setup, (_, run) => run.subscribe(untyped<() => void>(value))),
  ),
  place('decide: approvalId', (setup, value) =>
    waiting(setup, (_, run) => run.decide(untyped<string>(value), { decision: 'deny' })),
  ),
  place('decide: answer', (setup, value) =>
    waiting(setup, (id, run) => run.decide(id, untyped<ApprovalDecision>(value))),
  ),
  ...['decision', 'message'].map((field) =>
    place(`decide: answer.${field}`, (setup, value) =>
      waiting(setup, (id, run) => run.decide(id, untyped({ decision: 'deny', [field]: value }))),
    ),
  ),
  place('resume: sessionId', (setup, value) => resume(setup, {}, value), 'sessionId', 'session id'),
  place('resume: options', (setup, value) => resume(setup, value), 'options'),
  ...['signal', 'onEvent', 'output', 'runId', 'budget', 'answers'].map((field) =>
    place(`resume: options.${field}`, (setup, value) => resume(setup, { [field]: value })),
  ),
  place('resume: options.answers[0]', (setup, value) => resume(setup, { answers: [value] }), 'answers'),
  ...['approvalId', 'decision', 'message'].map((field) =>
    place(`resume: options.answers[0].${field}`, (setup, value) =>
      resume(setup, { answers: [{ approvalId: 'id', decision: 'deny', [field]: value }] }),
    ),
  ),
  place('advance: options.answers', (setup, value) =>
    setup
      .executor({ agent: toolCallingAgent() })
      .advance({ sessionId: 'here', runId: 'run-1', prompt: 'Go.', answers: untyped<[]>(value) }),
  ),
];
