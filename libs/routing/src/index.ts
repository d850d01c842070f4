export { type DeclaredRoute, declaredRoutes, pathOf, RouteMatcher } from './routes.js';
