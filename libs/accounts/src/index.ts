export { AccountsModule } from './accounts.module.js';
export { ApiKeys, type KeyLookup, type NewApiKey } from './api-keys.js';
export { hashOf, Invites, type MintedInvite, newCode, type NewInvite } from './invites.js';
export { AccountError, type NewOrganization, Organizations } from './organizations.js';
export { grants, isScope, type Scope, SCOPES } from './scopes.js';
