export { type RestateRunner, type RestateRunnerOptions, restateRunner } from './restate-runner.ts';
