export { createYourOwn, type YourOwnConfig } from './create-your-own.ts';
