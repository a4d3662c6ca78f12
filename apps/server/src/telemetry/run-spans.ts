import type { Event, RunEvent } from '@cobbler/agent';
import type { RunEnd } from '@cobbler/agent/events';
import { ignore } from '@cobbler/agent/events';
import type { Span, Tracer } from '@opentelemetry/api';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';

/**
 * Converts the events of one session to spans with the names of OpenTelemetry's conventions for generative AI:
 * `invoke_agent` for a run, `chat` for a request to the model, `execute_tool` for a tool.
 */
export class RunSpans {
  readonly #tracer: Tracer;
  readonly #sessionId: string;
  #run: Span | undefined;
  readonly #tools = new Map<string, Span>();

  constructor(sessionId: string, tracer: Tracer = trace.getTracer('@cobbler/server')) {
    this.#tracer = tracer;
    this.#sessionId = sessionId;
  }

  handle(event: RunEvent): void {
    switch (event.type) {
      case 'user':
        return event.steer === true ? undefined : this.#begin(event);
      case 'resumed':
        return this.#begin(event);
      case 'assistant':
      case 'ask_failed':
        return this.#endRequest(event);
      case 'tool_started':
        return this.#toolBegan(event);
      case 'tool_result':
        return this.#toolEnded(event);
      case 'finished':
        return this.#end(event);
      default:
        return ignore<'input' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
  }

  #begin(event: Event): void {
    this.#run?.end();
    this.#run = this.#tracer.startSpan('invoke_agent cobbler', {
      startTime: new Date(event.time),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'cobbler',
        'gen_ai.conversation.id': this.#sessionId,
        'cobbler.run.id': event.runId,
      },
    });
  }

  #child(name: string, startTime: Date, attributes: Record<string, string | number>): Span {
    const parent = this.#run === undefined ? context.active() : trace.setSpan(context.active(), this.#run);
    return this.#tracer.startSpan(name, { startTime, attributes }, parent);
  }

  #endRequest(event: Extract<Event, { type: 'assistant' | 'ask_failed' }>): void {
    const end = new Date(event.time);
    const start = new Date(end.getTime() - event.durationMs);
    const operation = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': this.#sessionId };
    if (event.type === 'ask_failed') {
      const span = this.#child('chat', start, { ...operation, 'error.type': event.error.kind });
      span.setStatus({ code: SpanStatusCode.ERROR, message: event.error.message });
      return span.end(end);
    }
    const span = this.#child(`chat ${event.model}`, start, {
      ...operation,
      'gen_ai.provider.name': event.provider,
      'gen_ai.response.model': event.model,
      'gen_ai.usage.input_tokens': event.usage.inputTokens,
      'gen_ai.usage.output_tokens': event.usage.outputTokens,
    });
    span.setAttribute('gen_ai.response.finish_reasons', [event.stopReason]);
    span.end(end);
  }

  #toolBegan(event: Extract<Event, { type: 'tool_started' }>): void {
    const span = this.#child(`execute_tool ${event.toolName}`, new Date(event.time), {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': event.toolName,
      'gen_ai.tool.call.id': event.callId,
      'gen_ai.tool.type': 'function',
    });
    this.#tools.set(`${event.turn}.${event.index}`, span);
  }

  #toolEnded(event: Extract<Event, { type: 'tool_result' }>): void {
    const key = `${event.turn}.${event.index}`;
    const span = this.#tools.get(key);
    this.#tools.delete(key);
    if (event.isError) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end(new Date(event.time));
  }

  #end(event: RunEnd): void {
    for (const span of this.#tools.values()) span.end(new Date(event.time));
    this.#tools.clear();
    const { totalInputTokens, totalOutputTokens } = event.metrics;
    this.#run?.setAttributes({
      'gen_ai.usage.input_tokens': totalInputTokens,
      'gen_ai.usage.output_tokens': totalOutputTokens,
      'cobbler.run.status': event.status,
    });
    if (event.error !== undefined) {
      this.#run?.setAttribute('error.type', event.error.kind);
      this.#run?.setStatus({ code: SpanStatusCode.ERROR, message: event.error.message });
    }
    this.#run?.end(new Date(event.time));
    this.#run = undefined;
  }
}
