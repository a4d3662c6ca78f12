import type { Tool } from '../interfaces/tool.ts';
import type { RunEvent } from './event.ts';

/** The events of one type, without the fields that depend on the tool. */
type Without<Type extends RunEvent['type'], Names extends string> = Omit<
  Extract<RunEvent, { type: Type }>,
  Names
>;

type ToolEventType = 'tool_call' | 'tool_started' | 'approval_requested' | 'tool_result' | 'progress';
type OtherEvent = Exclude<RunEvent, { type: ToolEventType }>;
type Proposed = Without<'tool_call', 'call'>;
type Started = Without<'tool_started', 'toolName' | 'arguments'>;
type Requested = Without<'approval_requested', 'toolName' | 'arguments'>;
type Ended = Without<'tool_result', 'toolName'>;
type Progressed = Without<'progress', 'toolName'>;

/**
 * The events of a run with these tools: `toolName` is the name of one of them, and determines the type of `arguments`.
 * A tool without a literal name, such as an element of a `Tool[]`, can have any.
 *
 * Calls with other names can occur, so handle them too: a model can name a tool that does not exist, and structured
 * output and offloading add tools of their own.
 */
export type ToolRunEvent<Tools extends Tool = Tool> =
  | OtherEvent
  | (Proposed & { readonly call: { readonly id: string } & CallsOf<Tools>['proposed'] })
  | (Started & CallsOf<Tools>['valid'])
  | (Requested & CallsOf<Tools>['valid'])
  | (Ended & { readonly toolName: Tools['name'] })
  | (Progressed & { readonly toolName: Tools['name'] });

type CallsOf<Tools extends Tool> = NonNullable<Tools['~calls']>;
