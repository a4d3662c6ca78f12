import type { Capabilities, Effort, ModelRequest, OutputShape } from '../../interfaces/agent.ts';
import type { Tool } from '../../interfaces/tool.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import type { WireRequest } from '../wire/wire.ts';

/** The settings of an agent that apply if a request does not override them. */
export interface AgentDefaults {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: Capabilities;
  /** 0 or undefined: the provider's default. */
  readonly maxTokens?: number | undefined;
  /** -1 or undefined: the provider's default. */
  readonly temperature?: number | undefined;
  readonly effort?: Effort | undefined;
}

/** @throws AgentError `invalid`, code `unsupported`, for an effort if the model does not reason. */
export function checkedDefaults(agent: AgentDefaults): AgentDefaults {
  if (agent.effort === undefined || agent.capabilities.reasoning) return agent;
  throw unsupported(
    agent,
    `${agent.model} does not support the effort option. Omit the option or choose another model.`,
  );
}

/** One request with defaults filled in, before its tools are converted to the wire's form. */
export interface EnvelopeRequest extends Omit<WireRequest, 'system' | 'tools'> {
  readonly system: ModelRequest['system'];
  readonly tools: readonly Tool[];
}

/**
 * Returns the settings of a request with the defaults filled in: the request's values take precedence over the agent's
 * (S0.3, S0.4).
 * @throws AgentError `invalid` if the model does not support a setting.
 */
export function demandOf(request: ModelRequest, agent: AgentDefaults): EnvelopeRequest {
  const { tools, system, config = {}, output } = request;
  const maxTokens = config.maxTokens || agent.maxTokens || undefined;
  const effort = agent.capabilities.reasoning ? (config.effort ?? agent.effort) : undefined;
  const temperature = given(config.temperature) ?? given(agent.temperature);
  if (maxTokens !== undefined) checkMaxTokens(maxTokens, agent);
  if (temperature !== undefined) checkTemperature(temperature, agent);
  if (output !== undefined) checkOutput(output, agent);
  return {
    model: agent.model,
    system,
    tools,
    // Services reject a tool choice in a request without tools.
    toolChoice: tools.length > 0 ? (config.toolChoice ?? 'auto') : 'auto',
    ...defined({ maxTokens, temperature, effort, output }),
  };
}

function given(temperature: number | undefined): number | undefined {
  return temperature === -1 ? undefined : temperature;
}

function checkMaxTokens(maxTokens: number, agent: AgentDefaults): void {
  if (Number.isSafeInteger(maxTokens) && maxTokens > 0) return;
  throw invalid(agent, `maxTokens must be a whole number above 0, or 0 for the default; it is ${maxTokens}.`);
}

function checkTemperature(temperature: number, agent: AgentDefaults): void {
  if (!agent.capabilities.sampling) {
    throw unsupported(
      agent,
      `${agent.model} does not support the temperature option. Omit the option or choose another model.`,
    );
  }
  if (temperature >= 0 && temperature <= 2) return;
  throw invalid(agent, `temperature must be from 0 to 2, or -1 for the default; it is ${temperature}.`);
}

function checkOutput(output: OutputShape, agent: AgentDefaults): void {
  if (agent.capabilities.output !== 'native') {
    throw unsupported(
      agent,
      `${agent.model} does not support an output schema. Request structured output through a tool instead.`,
    );
  }
  if (/^[A-Za-z0-9_-]{1,64}$/.test(output.name)) return;
  throw invalid(
    agent,
    `The name of the output schema is invalid: ${JSON.stringify(output.name)}. Use 1 to 64 letters, digits, "_" or "-".`,
  );
}

function unsupported(agent: AgentDefaults, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'unsupported', provider: agent.provider, message });
}

function invalid(agent: AgentDefaults, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'bad_option', provider: agent.provider, message });
}
