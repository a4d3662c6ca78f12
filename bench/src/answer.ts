import type { Script } from './work.ts';

/** The only tool that the model calls. */
export const toolName = 'write_note';

/** The tool's output, about as long as a small file or the output of a command. */
export const toolOutput: string = 'The note was taken and stands in the list of notes. '.repeat(4);

/** JSON Schema of the tool's arguments. */
export const toolSchema = {
  type: 'object',
  properties: { path: { type: 'string' }, text: { type: 'string' } },
  required: ['path', 'text'],
  additionalProperties: false,
} as const;

/** The tool's description for the model. */
export const toolDescription = 'Writes a note into a file of the workspace.';

/** The prompt of a measured run, and that of a warm-up run. */
export const prompts = { work: 'Take the notes.', warmUp: 'Say hello: this is a warm-up.' } as const;

/** The model name in every request. */
export const model = 'claude-sonnet-5-5';

/** Returns text delta number `index` of a response: twenty characters. */
function delta(index: number): string {
  return `word ${String(index).padStart(6, '0')} of it. `;
}

/** Returns the text of every response of a script. */
export function textOf(script: Script): string {
  let text = '';
  for (let index = 0; index < script.deltas; index += 1) text += delta(index);
  return text;
}

/** Returns a call's arguments as JSON, exactly as long as the script specifies unless that is too short for JSON. */
export function argumentsOf(script: Script, turn = 0): string {
  // Each turn writes a different note, because a model that repeats itself is stopped.
  const path = `notes/${String(turn).padStart(5, '0')}.md`;
  const bare = JSON.stringify({ path, text: '' });
  const line = 'A line of the note, written by the model. ';
  const room = Math.max(0, script.argumentBytes - bare.length);
  const text = line.repeat(Math.ceil(room / line.length)).slice(0, room);
  return JSON.stringify({ path, text });
}

/** Returns the responses of a script as bytes of a Messages stream, by turn. */
export function answersOf(script: Script): Buffer[] {
  return Array.from({ length: script.turns }, (_, turn) => {
    const isLast = turn === script.turns - 1;
    return Buffer.from(answer(turn, script, isLast ? undefined : argumentsOf(script, turn)));
  });
}

function answer(turn: number, script: Script, calling: string | undefined): string {
  const usage = { input_tokens: 100 + turn, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const frames = [frame({ type: 'message_start', message }), ...textBlock(script), frame({ type: 'ping' })];
  if (calling !== undefined) frames.push(...callBlock(turn, script, calling));
  const stop_reason = calling === undefined ? 'end_turn' : 'tool_use';
  frames.push(
    frame({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { ...usage, output_tokens: 2 * script.deltas },
    }),
    frame({ type: 'message_stop' }),
  );
  return frames.join('');
}

function textBlock(script: Script): string[] {
  const frames = [
    frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ];
  for (let index = 0; index < script.deltas; index += 1) {
    frames.push(
      frame({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: delta(index) },
      }),
    );
  }
  frames.push(frame({ type: 'content_block_stop', index: 0 }));
  return frames;
}

function callBlock(turn: number, script: Script, json: string): string[] {
  const content_block = { type: 'tool_use', id: `toolu_${turn}`, name: toolName, input: {} };
  const frames = [frame({ type: 'content_block_start', index: 1, content_block })];
  for (let at = 0; at < json.length; at += script.fragmentBytes) {
    const partial_json = json.slice(at, at + script.fragmentBytes);
    frames.push(
      frame({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json } }),
    );
  }
  frames.push(frame({ type: 'content_block_stop', index: 1 }));
  return frames;
}

function frame(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
