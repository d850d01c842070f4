import type { Grants } from './grants.js';

/** Signing in: each function opens only what belongs to the given secret, and enforces its own rule. */
export const signIn: Grants = {
  tables: {
    credentials: {},
    portal_sessions: {},
    password_links: {},
    password_link_requests: {},
    passkeys: {},
    sign_in_attempts: {},
    device_cookies: {},
  },
  functions: {
    identity_of: ['portal'],
    set_first_password: ['portal'],
    prove_login: ['portal'],
    is_proof: [],
    // For the operator, and as the owner for who has shown a proof or a link.
    take_login: [],
    end_ways_in: [],
    set_first_passkey: ['portal'],
    prove_login_with_passkey: ['portal'],
    take_login_with_passkey: [],
    is_password: ['portal'],
    salt_of: [],
    is_used: [],
    has_passkeys: ['portal'],
    store_passkey: [],
    mail_credential_notice: ['portal'],

    open_portal_session: ['portal'],
    is_known_browser: ['portal'],
    renew_portal_session: ['portal'],
    confirm_portal_session: ['portal'],
    portal_session: ['portal'],
    person_of_session: [],
    list_portal_sessions: ['portal'],
    end_portal_session: ['portal'],
    end_other_portal_sessions: ['portal'],
    take_attempt: ['portal'],
    give_back_attempt: ['portal'],

    // The portal records what was entered; the worker looks it up.
    request_password_link: ['portal'],
    resolve_password_links: ['worker'],
    // Called by resolve_password_links, as the owner.
    mail_password_link: [],
    add_password_link: [],
    password_link: ['portal'],
    use_password_link: ['portal'],
    change_password: ['portal'],

    add_passkey: ['portal'],
    list_passkeys: ['portal'],
    rename_passkey: ['portal'],
    remove_passkey: ['portal'],
    passkey_by_credential: ['portal'],
    use_passkey: ['portal'],
  },
};
