/** The used part of workerd's own module. */
declare module 'cloudflare:workers' {
  export abstract class WorkflowEntrypoint<Env> {
    protected readonly env: Env;
  }
  export abstract class WorkerEntrypoint<Env = unknown> {
    protected readonly env: Env;
  }
}
