import { describePublicFunctions } from './public-functions/describe.ts';

describePublicFunctions();
