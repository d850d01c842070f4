import type { Grants } from './grants.js';

/** Leads, booking requests, locations, places and road times. */
export const enquiries: Grants = {
  tables: {
    leads: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: 'SELECT, UPDATE (status, converted_at, assigned_tutor_id, notes, staff_notes, updated_at)',
    },
    booking_requests: {
      api: 'SELECT, INSERT, UPDATE',
      portal: 'SELECT, UPDATE (status, matched_session_id, updated_at)',
    },
    locations: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT (organization_id, id, label, suburb)',
      portal: 'SELECT',
    },
    places: { api: 'SELECT', portal: 'SELECT' },
    isochrones: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT' },
  },
  functions: {},
};
