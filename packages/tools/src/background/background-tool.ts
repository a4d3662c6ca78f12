import type { Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { AgentError, defineTool, toolOutput } from '@cobbler/agent';
import { read, withMethods } from '@cobbler/agent/input';
import { commandText } from '../command-text.ts';
import type { BackgroundCommand, BackgroundCommands } from './background-commands.ts';

/** Arguments of background_command. */
export interface BackgroundCommandArgs {
  readonly action: 'list' | 'read' | 'stop';
  /** The id of a command, for `read` and `stop`. */
  readonly id?: string;
  /** Longest time that `read` waits for `until` or the end of the command, in seconds. Default 0. */
  readonly wait_seconds?: number;
  /** `read` waits for this text in the output. */
  readonly until?: string;
}

const maxWaitSeconds = 100;

/** Creates background_command, with which the model lists, reads and stops the commands that it started in the background. */
export function backgroundTool(commands: BackgroundCommands): Tool {
  const own = read<BackgroundCommands>(
    commands,
    withMethods<BackgroundCommands>('list', 'get', 'wait', 'stop'),
    'commands',
  );
  return defineTool<BackgroundCommandArgs>({
    name: 'background_command',
    description:
      'Works with the commands that run_command started with "background": "list" them, "read" the output of one, or ' +
      '"stop" one. With wait_seconds, "read" waits until the output contains the text "until" or the command has ended.',
    parameters: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: ['list', 'read', 'stop'] },
        id: { type: 'string', description: 'The id of a command, such as bg1. For "read" and "stop".' },
        wait_seconds: { type: 'number', minimum: 0, maximum: maxWaitSeconds, description: 'Default 0.' },
        until: {
          type: 'string',
          minLength: 1,
          maxLength: 1000,
          description: 'For "read" with wait_seconds.',
        },
      },
      required: ['action'],
      additionalProperties: false,
    },
    // It changes nothing but what this session has started.
    effect: 'read',
    mayRepeat: true,
    subject: ({ action, id = '' }) => `${action} ${id}`.trim(),
    execute: (args, context) => act(own, args, context),
  });
}

async function act(
  commands: BackgroundCommands,
  { action, id, wait_seconds: seconds = 0, until }: BackgroundCommandArgs,
  { sessionId = '', signal }: ToolContext,
): Promise<ToolOutput> {
  if (action === 'list') {
    const lines = commands.list(sessionId).map(headOf);
    return toolOutput({
      content: lines.join('\n') || 'No command was started in the background.',
      summary: `${lines.length}`,
    });
  }
  if (id === undefined)
    throw new AgentError({
      kind: 'tool',
      code: 'missing_argument',
      message: `The call was not run: "${action}" needs an id.`,
    });
  if (action === 'stop') await commands.stop(sessionId, id);
  else if (seconds > 0) await commands.wait(sessionId, id, seconds * 1000, { until, signal });
  return backgroundReport(commands.get(sessionId, id));
}

/** Returns the state and the output of a command for the model. */
export function backgroundReport(command: BackgroundCommand): ToolOutput {
  const { status, output, untrusted } = command;
  return toolOutput({
    content: `${headOf(command)}\n${commandText(output) || '(no output)'}`,
    summary: status,
    ...(untrusted && { untrusted }),
  });
}

function headOf({ id, status, durationMs, command }: BackgroundCommand): string {
  return `[${id}: ${status}, ${Math.round(durationMs / 1000)} s] ${command}`;
}
