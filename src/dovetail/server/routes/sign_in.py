"""Signing in and out, for pages; programs send their API key with every request."""

from fastapi import APIRouter, Request, Response

from dovetail.errors import NotFoundError
from dovetail.server.layers.access import SIGN_IN, find_owner
from dovetail.server.layers.key_cookie import give_key, take_key
from dovetail.server.routes.bodies import SignInBody

router = APIRouter(tags=["access"])


@router.post(SIGN_IN)
async def sign_in(body: SignInBody, request: Request, response: Response) -> dict[str, str]:
    """Keep an API key in a cookie of the browser and tell whose it is."""
    keys = request.app.state.keys
    if not keys:
        raise NotFoundError("this server has no API keys, so nobody needs to sign in")
    owner = find_owner(keys, body.key)
    give_key(response, request, body.key)
    return {"owner": owner}


@router.delete(SIGN_IN, status_code=204)
async def sign_out(request: Request, response: Response) -> None:
    """Let the browser forget its API key."""
    take_key(response, request)
