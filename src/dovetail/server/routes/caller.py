"""What a route knows of its caller and of the app; plain functions would each take a thread."""

from typing import Annotated

from fastapi import Depends, Request

from dovetail.app import Dovetail
from dovetail.sessions.session import LOCAL_OWNER


async def get_app(request: Request) -> Dovetail:
    """The app that this server serves."""
    return request.app.state.dovetail


async def get_owner(request: Request) -> str:
    """Who calls; everything a route shows or changes belongs to them."""
    return request.scope.get("owner", LOCAL_OWNER)


App = Annotated[Dovetail, Depends(get_app)]
Owner = Annotated[str, Depends(get_owner)]
