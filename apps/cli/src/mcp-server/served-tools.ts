import type { Tool } from '@modelcontextprotocol/sdk/types.js';

const sessionId = { type: 'string', description: 'From the result of cobbler_run.' } as const;

/** What a client of the protocol may call. What they do to the world is what Cobbler's own tools do. */
export const servedTools: Tool[] = [
  {
    name: 'cobbler_run',
    title: 'Hand a task to Cobbler',
    description:
      'Has the Cobbler agent work on a task in its folder with its own tools (files, search, commands), until it is done. ' +
      'Gives its answer, the session_id to go on with, and the status. With status "waiting" it needs permission for the ' +
      'calls listed in approvals: show them to the user and answer with cobbler_approve. With background true it returns ' +
      'at once; cobbler_status tells how it goes on.',
    inputSchema: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'The task, with all that is needed to do it.' },
        session_id: { ...sessionId, description: 'Goes on with this session. Leave out to begin a new one.' },
        background: { type: 'boolean', description: 'Do not wait for the end. Default false.' },
      },
      required: ['prompt'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'cobbler_status',
    title: 'How a Cobbler session stands',
    description:
      'Tells how a session stands: running, waiting for permission (with the calls), or ended (with the answer). Without ' +
      'session_id it lists sessions. With wait_seconds it waits so long for the end.',
    inputSchema: {
      type: 'object',
      properties: {
        session_id: { ...sessionId, description: 'Leave out to list sessions.' },
        wait_seconds: { type: 'number', minimum: 0, maximum: 600 },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'cobbler_approve',
    title: 'Allow or deny a call of Cobbler',
    description:
      'Answers a call that waits for permission, as the user has decided, and waits for what comes of it. Never decide ' +
      'for the user.',
    inputSchema: {
      type: 'object',
      properties: {
        session_id: sessionId,
        approval_id: { type: 'string', description: 'From approvals.' },
        decision: { type: 'string', enum: ['allow', 'deny'] },
        message: { type: 'string', description: 'With deny: what the agent is told.' },
      },
      required: ['session_id', 'approval_id', 'decision'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'cobbler_steer',
    title: 'Say something to Cobbler while it works',
    description: 'Says something to a session at work; the agent hears it at its next step.',
    inputSchema: {
      type: 'object',
      properties: { session_id: sessionId, text: { type: 'string' } },
      required: ['session_id', 'text'],
      additionalProperties: false,
    },
  },
  {
    name: 'cobbler_cancel',
    title: 'Stop Cobbler',
    description: 'Stops what a session is doing. The session stays and can be gone on with.',
    inputSchema: {
      type: 'object',
      properties: { session_id: sessionId },
      required: ['session_id'],
      additionalProperties: false,
    },
    annotations: { idempotentHint: true },
  },
];
