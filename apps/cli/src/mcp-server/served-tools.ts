import type { Tool } from '@modelcontextprotocol/sdk/types.js';

const sessionId = { type: 'string', description: 'The session_id from the result of cobbler_run.' } as const;

/** The tools for clients of the protocol. Cobbler's own tools determine their effects. */
export const servedTools: Tool[] = [
  {
    name: 'cobbler_run',
    title: 'Give a task to Cobbler',
    description:
      'Runs a task to completion with the Cobbler agent, which works in its own directory with its own tools (files, search, commands). ' +
      'Returns the response, the session_id to continue with, and the status. Status "waiting" means that the calls ' +
      "listed in approvals need approval: show them to the user and send the user's decisions with cobbler_approve. With background set to true, it " +
      'returns immediately; to check the progress, use cobbler_status.',
    inputSchema: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'The task, with all the information needed to do it.' },
        session_id: { ...sessionId, description: 'The session to continue. Omit it to start a new one.' },
        background: {
          type: 'boolean',
          description: 'Return without waiting for the end of the run. Default false.',
        },
      },
      required: ['prompt'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'cobbler_status',
    title: 'Status of a Cobbler session',
    description:
      'Returns the status of a session: running, waiting for approval (with the calls), or ended (with the response). Without ' +
      'session_id, lists the sessions. With wait_seconds, waits at most that long for the run to end.',
    inputSchema: {
      type: 'object',
      properties: {
        session_id: { ...sessionId, description: 'The session. Omit it to list all sessions.' },
        wait_seconds: { type: 'number', minimum: 0, maximum: 600 },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'cobbler_approve',
    title: 'Allow or deny a Cobbler tool call',
    description:
      "Submits the user's decision on a call that is waiting for approval, and waits for the result. Never decide " +
      'for the user.',
    inputSchema: {
      type: 'object',
      properties: {
        session_id: sessionId,
        approval_id: { type: 'string', description: 'The approval_id of the call, as listed in approvals.' },
        decision: { type: 'string', enum: ['allow', 'deny'] },
        message: { type: 'string', description: 'With deny: a message for the agent.' },
      },
      required: ['session_id', 'approval_id', 'decision'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'cobbler_steer',
    title: 'Send a message to a running Cobbler session',
    description: 'Sends a message to a running session. The agent reads it at its next step.',
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
    description: "Stops a session's run. The session remains and can be continued.",
    inputSchema: {
      type: 'object',
      properties: { session_id: sessionId },
      required: ['session_id'],
      additionalProperties: false,
    },
    annotations: { idempotentHint: true },
  },
];
